package org.statelift.harness;

import java.util.Map;
import java.util.Set;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.OperatorStateStore;
import org.apache.flink.runtime.state.FunctionInitializationContext;

/** Records the restored operator states of one subtask; a function calls it from its initializeState. */
final class OperatorDump {

    private final Contents contents;
    private final String uid;
    private final int subtask;
    private final OperatorStateStore store;

    private OperatorDump(Contents contents, String uid, int subtask, OperatorStateStore store) {
        this.contents = contents;
        this.uid = uid;
        this.subtask = subtask;
        this.store = store;
    }

    /** Null where there is nothing to record: a job that was not restored, or one without a record (run null). */
    static OperatorDump of(String run, String uid, int subtask, FunctionInitializationContext context) {
        Contents contents = run == null ? null : Contents.of(run);
        return contents == null ? null : new OperatorDump(contents, uid, subtask, context.getOperatorStateStore());
    }

    <T> void list(ListStateDescriptor<T> descriptor, String kind) throws Exception {
        ListState<T> state =
                kind.equals("union") ? store.getUnionListState(descriptor) : store.getListState(descriptor);
        int position = 0;
        for (T element : state.get()) {
            contents.element(uid, descriptor.getName(), kind, subtask, position++, element);
        }
    }

    <K, V> void broadcast(MapStateDescriptor<K, V> descriptor) throws Exception {
        for (Map.Entry<K, V> entry : store.getBroadcastState(descriptor).entries()) {
            contents.broadcast(uid, descriptor.getName(), subtask, entry.getKey(), entry.getValue());
        }
    }

    /** Fails on a restored state that this job does not have. */
    void nothingElse(Set<String> lists, Set<String> broadcasts) {
        if (!lists.containsAll(store.getRegisteredStateNames())
                || !broadcasts.containsAll(store.getRegisteredBroadcastStateNames())) {
            throw new IllegalStateException("operator " + uid + " holds unknown states: lists "
                    + store.getRegisteredStateNames() + ", broadcast " + store.getRegisteredBroadcastStateNames());
        }
    }
}
