import java.util.Collection;
import java.util.List;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.state.rocksdb.ConfigurableRocksDBOptionsFactory;
import org.apache.flink.state.rocksdb.RocksDBOptionsFactory;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.ColumnFamilyOptions;
import org.rocksdb.CompressionOptions;
import org.rocksdb.CompressionType;
import org.rocksdb.DBOptions;
import org.rocksdb.PlainTableConfig;

/** Ways to write tables that are not read: `state.backend.rocksdb.unread` says which. */
public class UnreadOption implements ConfigurableRocksDBOptionsFactory {

    private String way = "";

    @Override
    public RocksDBOptionsFactory configure(ReadableConfig configuration) {
        way = configuration.get(ConfigOptions.key("state.backend.rocksdb.unread").stringType().noDefaultValue());
        return this;
    }

    @Override
    public DBOptions createDBOptions(DBOptions current, Collection<AutoCloseable> handles) {
        return way.equals("plain") ? current.setAllowMmapReads(true) : current;
    }

    @Override
    public ColumnFamilyOptions createColumnOptions(ColumnFamilyOptions current, Collection<AutoCloseable> handles) {
        switch (way) {
            case "dictionary":
                CompressionOptions options = new CompressionOptions().setMaxDictBytes(4096).setZStdMaxTrainBytes(0);
                handles.add(options);
                return current.setCompressionPerLevel(List.of(CompressionType.ZSTD_COMPRESSION))
                        .setCompressionOptions(options)
                        .setTableFormatConfig(new BlockBasedTableConfig().setBlockSize(256));
            case "blobs":
                return current.setEnableBlobFiles(true).setMinBlobSize(16);
            case "plain":
                return current.useFixedLengthPrefixExtractor(2).setPeriodicCompactionSeconds(0).setTtl(0)
                        .setTableFormatConfig(new PlainTableConfig());
            default:
                throw new IllegalArgumentException(way);
        }
    }
}
