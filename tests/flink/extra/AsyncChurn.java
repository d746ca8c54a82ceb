package org.statelift.harness;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.StateTtlConfig;
import org.apache.flink.api.common.state.v2.AggregatingStateDescriptor;
import org.apache.flink.api.common.state.v2.AppendingState;
import org.apache.flink.api.common.state.v2.ListState;
import org.apache.flink.api.common.state.v2.ListStateDescriptor;
import org.apache.flink.api.common.state.v2.MapState;
import org.apache.flink.api.common.state.v2.MapStateDescriptor;
import org.apache.flink.api.common.state.v2.ReducingStateDescriptor;
import org.apache.flink.api.common.state.v2.State;
import org.apache.flink.api.common.state.v2.StateFuture;
import org.apache.flink.api.common.state.v2.StateDescriptor;
import org.apache.flink.api.common.state.v2.ValueState;
import org.apache.flink.api.common.state.v2.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.core.state.StateFutureUtils;
import org.apache.flink.streaming.api.datastream.KeyedStream;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.streaming.api.operators.StreamingRuntimeContext;
import org.apache.flink.util.Collector;

/** Churn on the asynchronous state of Flink 2; its windows are as before. */
final class AsyncChurn extends Churn {

    AsyncChurn() {
        super(0);
    }

    @Override
    void churn(KeyedStream<Event, String> events, String run) {
        events.enableAsyncState().process(new Churning<>(run, churnStates())).uid("churn");
    }

    @Override
    void pairs(KeyedStream<Event, Tuple2<Integer, String>> events, String run) {
        events.enableAsyncState().process(new Churning<>(run, pairStates())).uid("pairs");
    }

    private static List<StateDescriptor<?>> churnStates() {
        StateTtlConfig ttl = StateTtlConfig.newBuilder(Duration.ofDays(365)).build();
        List<StateDescriptor<?>> kept = List.of(
                new ValueStateDescriptor<>("kept", Types.STRING),
                new ListStateDescriptor<>("kept-lines", Types.LONG),
                new MapStateDescriptor<>("kept-scores", Types.STRING, Types.LONG));
        kept.forEach(state -> state.enableTimeToLive(ttl));
        List<StateDescriptor<?>> states = new java.util.ArrayList<>(List.of(
                new ValueStateDescriptor<>("count", Types.LONG),
                new ValueStateDescriptor<>("text", Types.STRING),
                new ListStateDescriptor<>("lines", Types.STRING),
                new MapStateDescriptor<>("scores", Types.LONG, Types.STRING),
                new ReducingStateDescriptor<>("sum", Long::sum, Types.LONG),
                new AggregatingStateDescriptor<>("mean", new LongMean(), Types.TUPLE(Types.LONG, Types.LONG))));
        states.addAll(kept);
        return states;
    }

    private static List<StateDescriptor<?>> pairStates() {
        return new java.util.ArrayList<>(List.of(
                new ValueStateDescriptor<>("latest", Types.TUPLE(Types.LONG, Types.STRING)),
                new MapStateDescriptor<>("shares", Types.TUPLE(Types.INT, Types.STRING), Types.DOUBLE)));
    }

    private static final class Churning<K> extends KeyedProcessFunction<K, Event, Void> {
        private final String run;
        private final List<StateDescriptor<?>> descriptors;
        private transient Map<String, State> states;

        Churning(String run, List<StateDescriptor<?>> descriptors) {
            this.run = run;
            this.descriptors = descriptors;
        }

        @Override
        public void open(OpenContext context) {
            states = new LinkedHashMap<>();
            descriptors.forEach(descriptor -> states.put(descriptor.getStateId(), state(descriptor)));
        }

        private State state(StateDescriptor<?> descriptor) {
            StreamingRuntimeContext runtime = (StreamingRuntimeContext) getRuntimeContext();
            if (descriptor instanceof ValueStateDescriptor) {
                return runtime.getState((ValueStateDescriptor<?>) descriptor);
            } else if (descriptor instanceof ListStateDescriptor) {
                return runtime.getListState((ListStateDescriptor<?>) descriptor);
            } else if (descriptor instanceof MapStateDescriptor) {
                return runtime.getMapState((MapStateDescriptor<?, ?>) descriptor);
            } else if (descriptor instanceof ReducingStateDescriptor) {
                return runtime.getReducingState((ReducingStateDescriptor<?>) descriptor);
            }
            return runtime.getAggregatingState((AggregatingStateDescriptor<?, ?, ?>) descriptor);
        }

        @Override
        public void processElement(Event e, Context context, Collector<Void> out) {
            StateFuture<Void> done = StateFutureUtils.completedVoidFuture();
            for (Step step : steps(e)) {
                if (step.op() == Op.REGISTER || step.op() == Op.DELETE) {
                    time(context.timerService(), step);
                } else {
                    done = done.thenCompose(before -> take(states.get(step.state()), step));
                }
            }
            done.thenAccept(all -> Gate.of(run).processed.incrementAndGet());
        }

        @SuppressWarnings("unchecked")
        private static StateFuture<Void> take(State state, Step step) {
            switch (step.op()) {
                case SET:
                    return ((ValueState<Object>) state).asyncUpdate(step.value());
                case UPDATE:
                    return ((ListState<Object>) state).asyncUpdate((List<Object>) step.value());
                case ADD_ALL:
                    return ((ListState<Object>) state).asyncAddAll((List<Object>) step.value());
                case ADD:
                    return ((AppendingState<Object, ?, ?>) state).asyncAdd(step.value());
                case PUT:
                    return ((MapState<Object, Object>) state).asyncPut(step.key(), step.value());
                case REMOVE:
                    return ((MapState<Object, Object>) state).asyncRemove(step.key());
                default:
                    return state.asyncClear();
            }
        }
    }
}
