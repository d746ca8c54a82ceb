package org.statelift.harness;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.api.common.functions.AggregateFunction;
import org.apache.flink.api.common.state.AggregatingState;
import org.apache.flink.api.common.state.AggregatingStateDescriptor;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.api.java.typeutils.runtime.TupleSerializer;
import org.apache.flink.runtime.state.KeyedStateBackend;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.runtime.state.internal.InternalKvState;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.KeyedStream;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.InternalTimer;
import org.apache.flink.streaming.api.operators.InternalTimerService;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.api.operators.Triggerable;
import org.apache.flink.streaming.api.windowing.assigners.EventTimeSessionWindows;
import org.apache.flink.streaming.api.windowing.windows.TimeWindow;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

/** Session windows of texts: each key has one that grew by a second record, and one of a record alone. */
final class TypesWindows {

    static final String UID = "session";

    private static final long T0 = 1_700_000_000_000L;
    private static final long MINUTE = 60_000;
    private static final long GAP = 10 * MINUTE;
    private static final int KEYS = 5;
    private static final List<Integer> MINUTES = List.of(0, 5, 60);

    private TypesWindows() {}

    static List<Event> events() {
        List<Event> events = new ArrayList<>();
        for (int i = 0; i < KEYS * MINUTES.size(); i++) {
            events.add(new Event(UID, i, 0));
        }
        return events;
    }

    static long time(Event e) {
        return T0 + MINUTES.get(e.index % MINUTES.size()) * MINUTE;
    }

    private static long key(Event e) {
        return e.index / MINUTES.size() - 2L;
    }

    static void expect(Contents contents) {
        for (long key = -2; key < KEYS - 2; key++) {
            TimeWindow first = new TimeWindow(T0, T0 + GAP);
            TimeWindow grown = new TimeWindow(T0, T0 + 5 * MINUTE + GAP);
            TimeWindow alone = new TimeWindow(T0 + 60 * MINUTE, T0 + 60 * MINUTE + GAP);
            int number = (int) (key + 2) * MINUTES.size();
            contents.keyed(UID, "window-contents", "aggregating", key, first, Tuple2.of("e" + number + "+e" + (number + 1), 2));
            contents.keyed(UID, "window-contents", "aggregating", key, alone, Tuple2.of("e" + (number + 2), 1));
            contents.keyed(UID, "merging-window-set", "list-unordered", key,
                    List.of(Tuple2.of(grown, first), Tuple2.of(alone, alone)));
            for (TimeWindow window : List.of(grown, alone)) {
                contents.timer(UID, "timers", "window-timers/event", key, window, window.maxTimestamp());
            }
        }
    }

    static void build(DataStream<Event> events, String record) {
        KeyedStream<Event, Long> keyed = events.keyBy(TypesWindows::key);
        if (record != null) {
            keyed.transform("dump", Types.VOID, new Dump(record)).uid(UID);
            return;
        }
        keyed.window(EventTimeSessionWindows.withGap(Duration.ofMillis(GAP)))
                .aggregate(new Joined(), sums(), sums())
                .uid(UID);
    }

    private static TypeInformation<Tuple2<String, Integer>> sums() {
        return Types.TUPLE(Types.STRING, Types.INT);
    }

    private static AggregatingStateDescriptor<Event, Tuple2<String, Integer>, Tuple2<String, Integer>> contents() {
        return new AggregatingStateDescriptor<>("window-contents", new Joined(), sums());
    }

    @SuppressWarnings("unchecked")
    private static ListStateDescriptor<Tuple2<TimeWindow, TimeWindow>> mergingWindows() {
        TimeWindow.Serializer window = new TimeWindow.Serializer();
        Class<Tuple2<TimeWindow, TimeWindow>> pair = (Class<Tuple2<TimeWindow, TimeWindow>>) (Class<?>) Tuple2.class;
        return new ListStateDescriptor<>(
                "merging-window-set", new TupleSerializer<>(pair, new TypeSerializer<?>[] {window, window}));
    }

    /** The names of a window's events and their count. */
    private static final class Joined
            implements AggregateFunction<Event, Tuple2<String, Integer>, Tuple2<String, Integer>> {
        @Override
        public Tuple2<String, Integer> createAccumulator() {
            return Tuple2.of("", 0);
        }

        @Override
        public Tuple2<String, Integer> add(Event e, Tuple2<String, Integer> before) {
            return merge(before, Tuple2.of("e" + e.index, 1));
        }

        @Override
        public Tuple2<String, Integer> getResult(Tuple2<String, Integer> all) {
            return all;
        }

        @Override
        public Tuple2<String, Integer> merge(Tuple2<String, Integer> a, Tuple2<String, Integer> b) {
            return Tuple2.of(a.f1 == 0 ? b.f0 : a.f0 + "+" + b.f0, a.f1 + b.f1);
        }
    }

    /** Restores what the operator of the windows wrote, and records it. */
    private static final class Dump extends AbstractStreamOperator<Void>
            implements OneInputStreamOperator<Event, Void>, Triggerable<Long, TimeWindow> {
        private final String record;

        Dump(String record) {
            this.record = record;
        }

        @Override
        public void open() throws Exception {
            super.open();
            Contents contents = Contents.of(record);
            KeyedStateBackend<Long> backend = getKeyedStateBackend();
            TimeWindow.Serializer windows = new TimeWindow.Serializer();
            AggregatingStateDescriptor<Event, ?, ?> accumulators = windowContents(contents, backend, windows);
            ListState<Tuple2<TimeWindow, TimeWindow>> merging = backend.getPartitionedState(
                    VoidNamespace.INSTANCE, VoidNamespaceSerializer.INSTANCE, mergingWindows());
            try (Stream<Long> keys = backend.getKeys("merging-window-set", VoidNamespace.INSTANCE)) {
                for (Long key : keys.collect(Collectors.toList())) {
                    backend.setCurrentKey(key);
                    contents.keyed(UID, "merging-window-set", "list-unordered", key, merging.get());
                }
            }
            InternalTimerService<TimeWindow> timers = getInternalTimerService("window-timers", windows, this);
            timers.forEachEventTimeTimer((window, ts) -> contents.timer(
                    UID, "timers", "window-timers/event", backend.getCurrentKey(), window, ts));
            contents.wanted(getOperatorID(), new Wanted(UID, backend.getKeySerializer())
                    .state(accumulators, windows)
                    .state(mergingWindows(), VoidNamespaceSerializer.INSTANCE)
                    .timers("window-timers", windows));
        }

        @SuppressWarnings("unchecked")
        private AggregatingStateDescriptor<Event, ?, ?> windowContents(
                Contents contents, KeyedStateBackend<Long> backend, TypeSerializer<TimeWindow> windows)
                throws Exception {
            AggregatingStateDescriptor<Event, Tuple2<String, Integer>, Tuple2<String, Integer>> descriptor = contents();
            AggregatingState<Event, Tuple2<String, Integer>> state =
                    backend.getOrCreateKeyedState(windows, descriptor);
            try (Stream<Tuple2<Long, TimeWindow>> found = backend.getKeysAndNamespaces("window-contents")) {
                for (Tuple2<Long, TimeWindow> place : found.collect(Collectors.toList())) {
                    backend.setCurrentKey(place.f0);
                    ((InternalKvState<Long, TimeWindow, ?>) state).setCurrentNamespace(place.f1);
                    contents.keyed(UID, "window-contents", "aggregating", place.f0, place.f1, state.get());
                }
            }
            return descriptor;
        }

        @Override
        public void processElement(StreamRecord<Event> element) {}

        @Override
        public void onEventTime(InternalTimer<Long, TimeWindow> timer) {
            Contents.of(record).timer(
                    UID, "fired", "window-timers/event", timer.getKey(), timer.getNamespace(), timer.getTimestamp());
        }

        @Override
        public void onProcessingTime(InternalTimer<Long, TimeWindow> timer) {}
    }
}
