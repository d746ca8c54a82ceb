package org.statelift.harness;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;

/**
 * The logical contents of a snapshot in the layout of expected.json: operators → uid → section → state → entries.
 * Filled by a job's model (expected) or by the subtasks of a restored job, which find it by the name of their run.
 */
final class Contents {

    private static final Map<String, Contents> RUNS = new ConcurrentHashMap<>();

    private final int maxParallelism;
    private final ObjectNode operators = Json.object();
    private final Map<OperatorID, Wanted> wanted = new ConcurrentHashMap<>();

    Contents(int maxParallelism) {
        this.maxParallelism = maxParallelism;
    }

    static Contents open(String run, int maxParallelism) {
        Contents contents = new Contents(maxParallelism);
        RUNS.put(run, contents);
        return contents;
    }

    static Contents of(String run) {
        return RUNS.get(run);
    }

    static void close(String run) {
        RUNS.remove(run);
    }

    synchronized ObjectNode operators() {
        return operators;
    }

    /** The serializers that an operator of the restored job has. */
    void wanted(OperatorID operator, Wanted serializers) {
        wanted.put(operator, serializers);
    }

    Map<OperatorID, Wanted> wanted() {
        return wanted;
    }

    void keyed(String uid, String state, String kind, Object key, Object value) {
        keyed(uid, state, kind, key, null, value);
    }

    void keyed(String uid, String state, String kind, Object key, Object namespace, Object value) {
        add(uid, "keyed", state, kind, keyEntry(key, namespace).set("value", Json.value(value)));
    }

    void timer(String uid, String section, String service, Object key, long timestamp) {
        timer(uid, section, service, key, null, timestamp);
    }

    void timer(String uid, String section, String service, Object key, Object namespace, long timestamp) {
        add(uid, section, service, null, keyEntry(key, namespace).put("ts", timestamp));
    }

    void element(String uid, String state, String kind, int subtask, int position, Object value) {
        ObjectNode entry = Json.object().put("subtask", subtask).put("pos", position);
        add(uid, "operator", state, kind, entry.set("value", Json.value(value)));
    }

    void broadcast(String uid, String state, int subtask, Object key, Object value) {
        ObjectNode entry = Json.object().put("subtask", subtask);
        entry.set("key", Json.value(key));
        add(uid, "broadcast", state, null, entry.set("value", Json.value(value)));
    }

    synchronized void add(String uid, String section, String state, String kind, JsonNode entry) {
        ObjectNode node = operators.withObject("/" + uid).withObject("/" + section);
        ObjectNode table = (ObjectNode) node.get(state);
        if (table == null) {
            table = node.putObject(state);
            if (kind != null) {
                table.put("kind", kind);
            }
            table.putArray("entries");
        }
        table.withArray("entries").add(entry);
    }

    private ObjectNode keyEntry(Object key, Object namespace) {
        ObjectNode entry = Json.object();
        entry.set("key", Json.value(key));
        entry.set("ns", Json.value(namespace));
        return entry.put("kg", KeyGroupRangeAssignment.assignToKeyGroup(key, maxParallelism));
    }
}
