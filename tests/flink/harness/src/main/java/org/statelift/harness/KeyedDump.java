package org.statelift.harness;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.api.common.state.AppendingState;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.State;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.runtime.state.KeyedStateBackend;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.streaming.api.operators.InternalTimerService;
import org.apache.flink.streaming.api.operators.KeyedProcessOperator;

/**
 * The operator of a KeyedProcessFunction that, once restored and before any input, records every key's state and
 * every timer of its subtask.
 */
final class KeyedDump<K, I, O> extends KeyedProcessOperator<K, I, O> {

    private final String run;
    private final String uid;
    private final List<StateDescriptor<?, ?>> states;
    private final Show show;

    /** What the JSON of a state's content, or of a key (state null), is made of. */
    interface Show extends Serializable {
        Object of(String state, Object value);
    }

    KeyedDump(String run, String uid, KeyedProcessFunction<K, I, O> function, List<StateDescriptor<?, ?>> states) {
        this(run, uid, function, states, (state, value) -> value);
    }

    KeyedDump(
            String run, String uid, KeyedProcessFunction<K, I, O> function, List<StateDescriptor<?, ?>> states,
            Show show) {
        super(function);
        this.show = show;
        this.run = run;
        this.uid = uid;
        this.states = new ArrayList<>(states);
    }

    @Override
    public void open() throws Exception {
        super.open();
        Contents contents = Contents.of(run);
        KeyedStateBackend<K> backend = getKeyedStateBackend();
        Wanted wanted = new Wanted(uid, backend.getKeySerializer());
        for (StateDescriptor<?, ?> state : states) {
            state.initializeSerializerUnlessSet(getExecutionConfig());
            dump(contents, backend, state);
            wanted.state(state, VoidNamespaceSerializer.INSTANCE);
        }
        contents.wanted(getOperatorID(), wanted.timers("user-timers", VoidNamespaceSerializer.INSTANCE));
        InternalTimerService<VoidNamespace> timers =
                getInternalTimerService("user-timers", VoidNamespaceSerializer.INSTANCE, this);
        timers.forEachEventTimeTimer(
                (ns, ts) -> contents.timer(uid, "timers", "user-timers/event", shownKey(backend.getCurrentKey()), ts));
        timers.forEachProcessingTimeTimer((ns, ts) ->
                contents.timer(uid, "timers", "user-timers/processing", shownKey(backend.getCurrentKey()), ts));
    }

    private Object shownKey(K key) {
        Object shown = show.of(null, key);
        return shown == key ? key : new Shown(key, Json.value(shown));
    }

    @SuppressWarnings("unchecked")
    private <S extends State> void dump(Contents contents, KeyedStateBackend<K> backend, StateDescriptor<?, ?> raw)
            throws Exception {
        StateDescriptor<S, ?> descriptor = (StateDescriptor<S, ?>) raw;
        S state = backend.getPartitionedState(
                VoidNamespace.INSTANCE, VoidNamespaceSerializer.INSTANCE, descriptor);
        List<K> keys;
        try (Stream<K> stream = backend.getKeys(descriptor.getName(), VoidNamespace.INSTANCE)) {
            keys = stream.collect(Collectors.toList());
        }
        String kind = descriptor.getType().name().toLowerCase();
        for (K key : keys) {
            backend.setCurrentKey(key);
            Object content = show.of(descriptor.getName(), content(state));
            contents.keyed(uid, descriptor.getName(), kind, shownKey(key), content);
        }
    }

    private static Object content(State state) throws Exception {
        if (state instanceof ValueState) {
            return ((ValueState<?>) state).value();
        } else if (state instanceof MapState) {
            Map<Object, Object> map = new HashMap<>();
            ((MapState<?, ?>) state).entries().forEach(entry -> map.put(entry.getKey(), entry.getValue()));
            return map;
        } else if (state instanceof ListState) {
            return ((ListState<?>) state).get();
        }
        return ((AppendingState<?, ?>) state).get();
    }
}
