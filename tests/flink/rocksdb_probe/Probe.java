import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.ColumnFamilyDescriptor;
import org.rocksdb.ColumnFamilyHandle;
import org.rocksdb.ColumnFamilyOptions;
import org.rocksdb.CompactRangeOptions;
import org.rocksdb.DBOptions;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksIterator;

/**
 * Opens a database the way Flink's RocksDB state backend does, and says what is in it.
 *
 * <p>{@code Probe DIRECTORY}: one line {@code stage, column family, entries, SHA-256} per column family, as it is
 * opened and again after a merge, a flush and a full compaction; fields are tab-separated, names in hex.
 */
public class Probe {
    private static final byte[] MERGED_KEY = "\u007fmerged".getBytes(StandardCharsets.UTF_8);

    public static void main(String[] args) throws Exception {
        RocksDB.loadLibrary();
        List<byte[]> names;
        try (Options options = new Options()) {
            names = RocksDB.listColumnFamilies(options, args[0]);
        }
        // Read-only first, so that what is written below changes nothing of it.
        try (Database database = new Database(args[0], names, true)) {
            database.report("read-only");
        }
        // Forced at the bottom too, so that every file is read and written again.
        CompactRangeOptions everything = new CompactRangeOptions()
                .setBottommostLevelCompaction(CompactRangeOptions.BottommostLevelCompaction.kForce);
        try (Database database = new Database(args[0], names, false)) {
            database.db.verifyChecksum();
            database.report("opened");
            for (ColumnFamilyHandle handle : database.handles) {
                byte[] first = database.firstKey(handle);
                for (byte[] key : first == null ? List.of(MERGED_KEY) : List.of(MERGED_KEY, first)) {
                    byte[] before = database.db.get(handle, key);
                    database.db.merge(handle, key, "more".getBytes(StandardCharsets.UTF_8));
                    String expected = before == null ? "more" : HexFormat.of().formatHex(before) + "2c6d6f7265";
                    byte[] after = database.db.get(handle, key);
                    String found = before == null ? new String(after) : HexFormat.of().formatHex(after);
                    if (!found.equals(expected)) {
                        throw new IllegalStateException("merged " + expected + " and found " + found);
                    }
                    if (before == null) {
                        database.db.delete(handle, key);
                    } else {
                        database.db.put(handle, key, before);
                    }
                }
                database.db.compactRange(handle, null, null, everything);
            }
            database.report("compacted");
        }
        try (Database database = new Database(args[0], names, false)) {
            database.db.verifyChecksum();
            database.report("reopened");
        }
    }

    private static final class Database implements AutoCloseable {
        final RocksDB db;
        final List<ColumnFamilyHandle> handles = new ArrayList<>();

        Database(String path, List<byte[]> names, boolean readOnly) throws Exception {
            List<ColumnFamilyDescriptor> descriptors = new ArrayList<>();
            for (byte[] name : names) {
                ColumnFamilyOptions options = new ColumnFamilyOptions();
                options.setMergeOperatorName("stringappendtest");
                options.setTableFormatConfig(new BlockBasedTableConfig());
                descriptors.add(new ColumnFamilyDescriptor(name, options));
            }
            DBOptions options = new DBOptions();
            db = readOnly
                    ? RocksDB.openReadOnly(options, path, descriptors, handles)
                    : RocksDB.open(options, path, descriptors, handles);
        }

        byte[] firstKey(ColumnFamilyHandle handle) {
            try (RocksIterator iterator = db.newIterator(handle)) {
                iterator.seekToFirst();
                return iterator.isValid() ? iterator.key() : null;
            }
        }

        void report(String stage) throws Exception {
            for (ColumnFamilyHandle handle : handles) {
                MessageDigest digest = MessageDigest.getInstance("SHA-256");
                long entries = 0;
                try (RocksIterator iterator = db.newIterator(handle)) {
                    for (iterator.seekToFirst(); iterator.isValid(); iterator.next()) {
                        update(digest, iterator.key());
                        update(digest, iterator.value());
                        if (entries++ % 97 == 0 && db.get(handle, iterator.key()) == null) {
                            throw new IllegalStateException("an iterated key is not found");
                        }
                    }
                    iterator.status();
                }
                System.out.println(String.join("\t", stage, HexFormat.of().formatHex(handle.getName()),
                        Long.toString(entries), HexFormat.of().formatHex(digest.digest())));
            }
        }

        private static void update(MessageDigest digest, byte[] part) {
            digest.update(ByteBuffer.allocate(4).putInt(part.length).array());
            digest.update(part);
        }

        @Override
        public void close() {
            handles.forEach(ColumnFamilyHandle::close);
            db.close();
        }
    }
}
