package org.statelift.harness;

import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.state.BroadcastState;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.OperatorStateStore;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.runtime.state.FunctionInitializationContext;
import org.apache.flink.runtime.state.FunctionSnapshotContext;
import org.apache.flink.streaming.api.checkpoint.CheckpointedFunction;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.functions.ProcessFunction;
import org.apache.flink.streaming.api.operators.ProcessOperator;
import org.apache.flink.util.Collector;

/** Operator states of the types of a family: a list, to split, and a broadcast map. Every subtask holds all values. */
final class TypesElements extends ProcessFunction<Event, Void> implements CheckpointedFunction {

    static final String UID = "elements";

    private final String family;
    private final String record;
    private transient Wanted wanted;

    private TypesElements(String family, String record) {
        this.family = family;
        this.record = record;
    }

    static void build(DataStream<Event> events, String family, String record) {
        events.transform(UID, Types.VOID, new Operator(new TypesElements(family, record))).uid(UID);
    }

    /** Tells the serializers under its own id. */
    private static final class Operator extends ProcessOperator<Event, Void> {
        Operator(TypesElements function) {
            super(function);
        }

        @Override
        public void open() throws Exception {
            super.open();
            TypesElements function = (TypesElements) userFunction;
            if (function.record != null) {
                Contents.of(function.record).wanted(getOperatorID(), function.wanted);
            }
        }
    }

    private static String list(TypeCase<?> one) {
        return "list-" + one.name();
    }

    private static String broadcast(TypeCase<?> one) {
        return "broadcast-" + one.name();
    }

    static void expect(List<TypeCase<?>> cases, Contents contents, int parallelism) {
        for (TypeCase<?> one : cases) {
            for (int subtask = 0; subtask < parallelism; subtask++) {
                for (int i = 0; i < one.values().size(); i++) {
                    Object shown = one.show(one.values().get(i));
                    contents.element(UID, list(one), "split", subtask, i, shown);
                    contents.broadcast(UID, broadcast(one), subtask, "b" + i, shown);
                }
            }
        }
    }

    @Override
    public void initializeState(FunctionInitializationContext context) throws Exception {
        int subtask = getRuntimeContext().getTaskInfo().getIndexOfThisSubtask();
        wanted = new Wanted(UID, null);
        for (TypeCase<?> one : TypesFamily.built(family).elements()) {
            state(context, one, subtask);
        }
    }

    private <X> void state(FunctionInitializationContext context, TypeCase<X> one, int subtask) throws Exception {
        OperatorStateStore store = context.getOperatorStateStore();
        MapStateDescriptor<String, X> descriptor = one.map(broadcast(one));
        ListStateDescriptor<X> elements = one.list(list(one));
        ListState<X> list = store.getListState(elements);
        BroadcastState<String, X> broadcast = store.getBroadcastState(descriptor);
        wanted.element(elements.getName(), elements.getElementSerializer());
        wanted.element(descriptor.getName(), descriptor.getValueSerializer());
        if (record == null) {
            list.update(new ArrayList<>(one.values()));
            for (int i = 0; i < one.values().size(); i++) {
                broadcast.put("b" + i, one.values().get(i));
            }
            return;
        }
        Contents contents = Contents.of(record);
        int position = 0;
        for (X element : list.get()) {
            contents.element(UID, list(one), "split", subtask, position++, one.show(element));
        }
        broadcast.entries().forEach(entry -> contents.broadcast(
                UID, broadcast(one), subtask, entry.getKey(), one.show(entry.getValue())));
    }

    @Override
    public void snapshotState(FunctionSnapshotContext context) {}

    @Override
    public void processElement(Event e, Context context, Collector<Void> out) {}
}
