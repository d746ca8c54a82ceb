import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.HexFormat;
import org.apache.flink.api.common.typeutils.TypeSerializerSchemaCompatibility;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshotSerializationUtil;
import org.apache.flink.core.memory.DataInputDeserializer;

/**
 * Reads lines of two serializer snapshots in hexadecimal, the written and the wanted one, as they stand in state meta
 * information, and answers each with Flink's verdict on restoring the one with the serializer of the other.
 */
public final class Judge {

    public static void main(String[] args) throws Exception {
        BufferedReader pairs = new BufferedReader(new InputStreamReader(System.in));
        for (String line = pairs.readLine(); line != null; line = pairs.readLine()) {
            String[] pair = line.split(" ");
            String answer;
            try {
                answer = verdict(read(pair[1]).restoreSerializer().snapshotConfiguration(), read(pair[0]));
            } catch (Throwable t) {
                StackTraceElement[] trace = t.getStackTrace();
                answer = "throws " + t + (trace.length > 0 ? " " + trace[0] : "");
            }
            System.out.println(answer.replace('\n', ' '));
        }
    }

    private static TypeSerializerSnapshot<Object> read(String hex) throws Exception {
        return TypeSerializerSnapshotSerializationUtil.readSerializerSnapshot(
                new DataInputDeserializer(HexFormat.of().parseHex(hex)), Judge.class.getClassLoader());
    }

    /** What the state backends put around both since TTL can be turned on and off; nothing in Flink before that. */
    @SuppressWarnings("unchecked")
    private static TypeSerializerSnapshot<Object> ttlAware(TypeSerializerSnapshot<Object> snapshot) throws Exception {
        Class<?> wrapper;
        try {
            wrapper = Class.forName("org.apache.flink.runtime.state.ttl.TtlAwareSerializerSnapshotWrapper");
        } catch (ClassNotFoundException e) {
            return snapshot;
        }
        Object wrapped = wrapper.getConstructor(TypeSerializerSnapshot.class).newInstance(snapshot);
        return (TypeSerializerSnapshot<Object>) wrapper.getMethod("getTtlAwareSerializerSnapshot").invoke(wrapped);
    }

    private static String verdict(TypeSerializerSnapshot<Object> wanted, TypeSerializerSnapshot<Object> written)
            throws Exception {
        TypeSerializerSchemaCompatibility<Object> compatibility =
                ttlAware(wanted).resolveSchemaCompatibility(ttlAware(written));
        if (compatibility.isCompatibleAsIs()) {
            return "as is";
        }
        if (compatibility.isCompatibleAfterMigration()) {
            return "after migration";
        }
        return compatibility.isCompatibleWithReconfiguredSerializer() ? "after reconfiguration" : "incompatible";
    }
}
