import java.util.Collection;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import org.apache.flink.state.rocksdb.RocksDBOptionsFactory;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.BloomFilter;
import org.rocksdb.ChecksumType;
import org.rocksdb.ColumnFamilyOptions;
import org.rocksdb.CompactionStyle;
import org.rocksdb.CompressionType;
import org.rocksdb.DBOptions;
import org.rocksdb.DataBlockIndexType;
import org.rocksdb.IndexType;

/**
 * Gives each column family that is made the next of all ways to write tables that are read. Flink sets the compression
 * of levels, which wins over that of the column family.
 */
public class EveryOption implements RocksDBOptionsFactory {

    private static final AtomicInteger NEXT = new AtomicInteger();

    private static final List<BiConsumer<BlockBasedTableConfig, ColumnFamilyOptions>> WAYS = List.of(
            (table, family) -> table.setFormatVersion(2).setChecksumType(ChecksumType.kNoChecksum),
            (table, family) -> table.setFormatVersion(3).setChecksumType(ChecksumType.kCRC32c)
                    .setIndexBlockRestartInterval(4),
            (table, family) -> table.setFormatVersion(4).setChecksumType(ChecksumType.kxxHash)
                    .setIndexBlockRestartInterval(8),
            (table, family) -> table.setFormatVersion(5).setChecksumType(ChecksumType.kxxHash64)
                    .setFilterPolicy(new BloomFilter(10, false)),
            (table, family) -> table.setFormatVersion(5).setChecksumType(ChecksumType.kXXH3)
                    .setFilterPolicy(new BloomFilter(10, true)).setWholeKeyFiltering(false),
            (table, family) -> {
                table.setIndexType(IndexType.kHashSearch);
                family.useFixedLengthPrefixExtractor(1);
            },
            (table, family) -> table.setIndexType(IndexType.kTwoLevelIndexSearch).setMetadataBlockSize(128)
                    .setPartitionFilters(true).setFilterPolicy(new BloomFilter(10, false)),
            (table, family) -> table.setDataBlockIndexType(DataBlockIndexType.kDataBlockBinaryAndHash)
                    .setDataBlockHashTableUtilRatio(0.5),
            (table, family) -> {
                table.setBlockAlign(true);
                family.setCompressionType(CompressionType.NO_COMPRESSION)
                        .setCompressionPerLevel(List.of(CompressionType.NO_COMPRESSION));
            },
            (table, family) -> {
                table.setEnableIndexCompression(true).setBlockRestartInterval(1);
                family.setCompressionPerLevel(List.of(CompressionType.LZ4HC_COMPRESSION));
            },
            (table, family) -> {
                table.setFormatVersion(6);
                family.setCompressionPerLevel(List.of(CompressionType.ZLIB_COMPRESSION));
            },
            (table, family) -> family.setCompressionPerLevel(List.of(
                    CompressionType.BZLIB2_COMPRESSION, CompressionType.ZSTD_COMPRESSION)),
            (table, family) -> family.setCompactionStyle(CompactionStyle.UNIVERSAL)
                    .setLevel0FileNumCompactionTrigger(2),
            (table, family) -> family.setCompactionStyle(CompactionStyle.FIFO));

    @Override
    public DBOptions createDBOptions(DBOptions current, Collection<AutoCloseable> handles) {
        return current;
    }

    @Override
    public ColumnFamilyOptions createColumnOptions(ColumnFamilyOptions current, Collection<AutoCloseable> handles) {
        int way = NEXT.getAndIncrement() % (WAYS.size() + 1);
        if (way == WAYS.size()) {
            return ribbon(handles);
        }
        BlockBasedTableConfig table = new BlockBasedTableConfig().setBlockSize(512);
        WAYS.get(way).accept(table, current);
        return current.setTableFormatConfig(table);
    }

    /** A filter that RocksDB's Java classes do not offer; Flink would replace it if it gave out the cache itself. */
    private static ColumnFamilyOptions ribbon(Collection<AutoCloseable> handles) {
        Properties properties = new Properties();
        properties.put("block_based_table_factory", "{filter_policy=ribbonfilter:10;block_size=512}");
        ColumnFamilyOptions options = ColumnFamilyOptions.getColumnFamilyOptionsFromProps(properties);
        handles.add(options);
        return options;
    }
}
