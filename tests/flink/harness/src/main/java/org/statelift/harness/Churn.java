package org.statelift.harness;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.AggregateFunction;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.AggregatingStateDescriptor;
import org.apache.flink.api.common.state.AppendingState;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ReducingStateDescriptor;
import org.apache.flink.api.common.state.State;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.state.StateTtlConfig;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.streaming.api.TimerService;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.KeyedStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.streaming.api.functions.ProcessFunction;
import org.apache.flink.streaming.api.windowing.assigners.EventTimeSessionWindows;
import org.apache.flink.streaming.api.windowing.assigners.TumblingEventTimeWindows;
import org.apache.flink.streaming.api.windowing.windows.TimeWindow;
import org.apache.flink.util.Collector;

/**
 * Every kind of keyed state, changed over and over: written, overwritten, cleared, removed and put again, timers
 * registered and deleted, in windows too. What an event does to its key is a list of steps, which the job takes on
 * Flink's states and the model on Java's collections. It is written, not restored with a record.
 *
 * <p>With a flood, the last round ends in that many records for an operator that takes its time: an unaligned
 * checkpoint overtakes them.
 */
class Churn implements Family {

    private static final long T0 = 1_700_000_400_000L; // a full hour
    private static final long TIMERS = 4_000_000_000_000L; // far ahead of every watermark and clock
    private static final long MINUTE = 60_000L;
    private static final long HOUR = 60 * MINUTE;
    private static final long GAP = 10 * MINUTE;

    private final int flood;

    Churn(int flood) {
        this.flood = flood;
    }

    // ---- the input

    @Override
    public Script script(JobSpec spec) {
        return new Input(spec.keys, spec.rounds, flood);
    }

    private record Input(int keys, int rounds, int flood) implements Script {
        @Override
        public int size(int round) {
            return 3 * keys + (round == rounds - 1 ? flood : 0);
        }

        /** Every key comes in the first round, three of four in each later one. */
        @Override
        public Event event(int round, int position) {
            int index = position % keys;
            if (position >= 3 * keys) {
                return new Event("flood", position - 3 * keys, round);
            }
            if (round > 0 && (index + round) % 4 == 0) {
                return null;
            }
            return new Event(new String[] {"churn", "pair", "tick"}[position / keys], index, round);
        }
    }

    @Override
    public int processed(Script script, int round) {
        int count = 0;
        for (int position = 0; position < script.size(round); position++) {
            Event e = script.event(round, position);
            if (e != null && !e.kind.equals("flood")) {
                count += e.kind.equals("tick") ? 2 : 1; // into both kinds of window
            }
        }
        return count;
    }

    // ---- what an event does to the states of its key

    enum Op { SET, ADD, ADD_ALL, UPDATE, PUT, REMOVE, CLEAR, REGISTER, DELETE }

    /** A step on one state; `state` of a timer is its time domain, `key` that of a map's entry. */
    record Step(String state, Op op, Object key, Object value) {
        Step(String state, Op op, Object value) {
            this(state, op, null, value);
        }
    }

    private static Object key(Event e) {
        return e.kind.equals("churn") ? text(e) : pair(e);
    }

    private static String text(Event e) {
        return "key-" + e.index;
    }

    private static Tuple2<Integer, String> pair(Event e) {
        return Tuple2.of(e.index % 7 - 3, "pair-" + e.index);
    }

    static List<Step> steps(Event e) {
        Random random = new Random(e.index * 1_000_003L + e.round * 31L + e.kind.length());
        random.nextInt(); // the first numbers of neighbouring seeds are alike
        return e.kind.equals("churn") ? churn(e, random) : pairs(e, random);
    }

    private static List<Step> churn(Event e, Random random) {
        List<Step> steps = new ArrayList<>();
        long number = e.index * 100L + e.round;
        String told = e.index + "." + e.round;
        value(steps, random, "count", number);
        value(steps, random, "text", told + "-" + letters(random, random.nextInt(400)));
        value(steps, random, "kept", "kept " + told);
        list(steps, random, "lines", List.of("a" + told, "b" + told, ""));
        list(steps, random, "kept-lines", List.of(number, -number));
        for (int i = random.nextInt(5); i >= 0; i--) {
            map(steps, random, "scores", (long) random.nextInt(6) - 1, told + "/" + i);
        }
        map(steps, random, "kept-scores", "s" + random.nextInt(4), number);
        for (String state : List.of("sum", "mean")) {
            steps.add(random.nextInt(5) == 0 ? new Step(state, Op.CLEAR, null) : new Step(state, Op.ADD, number));
        }
        for (String domain : List.of("event", "processing")) {
            long base = TIMERS + e.index * 1000L;
            steps.add(new Step(domain, Op.REGISTER, base + e.round));
            if (random.nextInt(2) == 0) {
                steps.add(new Step(domain, Op.DELETE, base + e.round - random.nextInt(2)));
            }
        }
        return steps;
    }

    /** Text that does not compress much. */
    private static String letters(Random random, int count) {
        return random.ints(count, ' ', '~').collect(
                StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append).toString();
    }

    private static List<Step> pairs(Event e, Random random) {
        List<Step> steps = new ArrayList<>();
        value(steps, random, "latest", Tuple2.of((long) e.round, "at " + e.index));
        for (int i = random.nextInt(3); i >= 0; i--) {
            map(steps, random, "shares", Tuple2.of(random.nextInt(3), "m"), random.nextInt(1000) / 8.0);
        }
        return steps;
    }

    private static void value(List<Step> steps, Random random, String state, Object value) {
        steps.add(random.nextInt(4) == 0 ? new Step(state, Op.CLEAR, null) : new Step(state, Op.SET, value));
    }

    private static void list(List<Step> steps, Random random, String state, List<?> values) {
        switch (random.nextInt(6)) {
            case 0:
                steps.add(new Step(state, Op.CLEAR, null));
                break;
            case 1:
                steps.add(new Step(state, Op.UPDATE, values));
                break;
            case 2:
                steps.add(new Step(state, Op.ADD_ALL, values));
                break;
            case 3:
                steps.add(new Step(state, Op.CLEAR, null));
                steps.add(new Step(state, Op.ADD, values.get(0)));
                break;
            default:
                steps.add(new Step(state, Op.ADD, values.get(random.nextInt(values.size()))));
        }
    }

    private static void map(List<Step> steps, Random random, String state, Object key, Object value) {
        switch (random.nextInt(8)) {
            case 0:
                steps.add(new Step(state, Op.CLEAR, null));
                break;
            case 1:
            case 2:
                steps.add(new Step(state, Op.REMOVE, key, null));
                break;
            default:
                steps.add(new Step(state, Op.PUT, key, value));
        }
    }

    private static long keyOfTick(Event e) {
        return e.index / 3 - 10L;
    }

    /** A key's ticks come every five minutes, one session of them all, or every thirty, each a session. */
    private static long time(Event e) {
        return T0 + e.round * (keyOfTick(e) % 2 == 0 ? 5 : 30) * MINUTE + e.index % 3 * MINUTE;
    }

    // ---- the model

    @Override
    public void expect(Contents contents, JobSpec spec, Script script) {
        Map<String, Map<Object, Object>> states = new LinkedHashMap<>();
        Map<Long, Map<TimeWindow, long[]>> tumbling = new TreeMap<>();
        Map<Long, List<Session>> sessions = new TreeMap<>();
        for (int round = 0; round < script.rounds(); round++) {
            for (int position = 0; position < script.size(round); position++) {
                Event e = script.event(round, position);
                if (e == null || e.kind.equals("flood")) {
                    continue;
                }
                if (e.kind.equals("tick")) {
                    long start = time(e) / HOUR * HOUR;
                    add(tumbling.computeIfAbsent(keyOfTick(e), k -> new LinkedHashMap<>())
                            .computeIfAbsent(new TimeWindow(start, start + HOUR), w -> new long[2]), e);
                    session(sessions.computeIfAbsent(keyOfTick(e), k -> new ArrayList<>()), e);
                    continue;
                }
                for (Step step : steps(e)) {
                    take(step, states.computeIfAbsent(step.state, s -> new LinkedHashMap<>()), key(e));
                }
            }
        }
        for (StateDescriptor<?, ?> state : churnStates()) {
            expectState(contents, "churn", state, states);
        }
        for (StateDescriptor<?, ?> state : pairStates()) {
            expectState(contents, "pairs", state, states);
        }
        for (String domain : List.of("event", "processing")) {
            states.get(domain).forEach((key, times) -> ((Map<?, ?>) times).keySet().forEach(
                    ts -> contents.timer("churn", "timers", "user-timers/" + domain, key, null, (Long) ts)));
        }
        tumbling.forEach((key, windows) -> windows.forEach((window, sums) ->
                expectWindow(contents, "tumbling", key, window, window, sums)));
        sessions.forEach((key, ofKey) -> {
            List<Tuple2<TimeWindow, TimeWindow>> mapping = new ArrayList<>();
            for (Session session : ofKey) {
                mapping.add(Tuple2.of(session.window, session.first));
                expectWindow(contents, "session", key, session.window, session.first, session.sums);
            }
            contents.keyed("session", "merging-window-set", "list-unordered", key, null, mapping);
        });
        ScriptSource.expect(contents, script.rounds());
    }

    private static void expectState(
            Contents contents, String uid, StateDescriptor<?, ?> state, Map<String, Map<Object, Object>> states) {
        String kind = state.getType().name().toLowerCase();
        states.get(state.getName()).forEach(
                (key, value) -> contents.keyed(uid, state.getName(), kind, key, null, value));
    }

    /** The state of a window is under the window it began as; the timer under what it is now. */
    private static void expectWindow(
            Contents contents, String uid, long key, TimeWindow window, TimeWindow state, long[] sums) {
        contents.keyed(uid, "window-contents", "aggregating", key, state, Tuple2.of(sums[0], sums[1]));
        contents.timer(uid, "timers", "window-timers/event", key, window, window.maxTimestamp());
    }

    private static final class Session {
        final TimeWindow first;
        final long[] sums = new long[2];
        TimeWindow window;

        Session(TimeWindow first) {
            this.first = first;
            this.window = first;
        }
    }

    private static void session(List<Session> sessions, Event e) {
        TimeWindow window = new TimeWindow(time(e), time(e) + GAP);
        Session found = sessions.stream().filter(s -> s.window.intersects(window)).findFirst().orElse(null);
        if (found == null) {
            found = new Session(window);
            sessions.add(found);
        }
        found.window = found.window.cover(window);
        add(found.sums, e);
    }

    private static void add(long[] sums, Event e) {
        sums[0] += e.index + e.round;
        sums[1]++;
    }

    @SuppressWarnings("unchecked")
    private static void take(Step step, Map<Object, Object> state, Object key) {
        switch (step.op) {
            case SET:
                state.put(key, step.value);
                break;
            case UPDATE:
                state.put(key, new ArrayList<>((List<Object>) step.value));
                break;
            case ADD_ALL:
                ((List<Object>) state.computeIfAbsent(key, k -> new ArrayList<>())).addAll((List<Object>) step.value);
                break;
            case ADD:
                state.put(key, added(step, state.get(key)));
                break;
            case PUT:
                ((Map<Object, Object>) state.computeIfAbsent(key, k -> new LinkedHashMap<>()))
                        .put(step.key, step.value);
                break;
            case REGISTER:
                ((Map<Object, Object>) state.computeIfAbsent(key, k -> new LinkedHashMap<>())).put(step.value, true);
                break;
            case REMOVE:
            case DELETE:
                Map<?, ?> map = (Map<?, ?>) state.get(key);
                if (map != null) {
                    map.remove(step.op == Op.REMOVE ? step.key : step.value);
                    if (map.isEmpty()) {
                        state.remove(key);
                    }
                }
                break;
            default:
                state.remove(key);
        }
    }

    @SuppressWarnings("unchecked")
    private static Object added(Step step, Object before) {
        if (step.state.equals("sum")) {
            return (Long) step.value + (before == null ? 0 : (Long) before);
        } else if (step.state.equals("mean")) {
            Tuple2<Long, Long> sum = before == null ? Tuple2.of(0L, 0L) : (Tuple2<Long, Long>) before;
            return Tuple2.of(sum.f0 + (Long) step.value, sum.f1 + 1);
        }
        List<Object> list = before == null ? new ArrayList<>() : (List<Object>) before;
        list.add(step.value);
        return list;
    }

    // ---- the job

    @Override
    public void build(StreamExecutionEnvironment env, JobSpec spec, String run, Script script) {
        if (script == null) {
            throw new UnsupportedOperationException("churn does not record what it restores");
        }
        DataStream<Event> events = env.fromSource(
                        new ScriptSource(run, script),
                        WatermarkStrategy.<Event>noWatermarks().withTimestampAssigner((e, at) -> time(e)), "gen",
                        TypeInformation.of(Event.class))
                .uid(ScriptSource.UID)
                .setParallelism(1);
        churn(Scenario.of(events, "churn").keyBy(Churn::text), run);
        pairs(Scenario.of(events, "pair").keyBy(Churn::pair, Types.TUPLE(Types.INT, Types.STRING)), run);
        KeyedStream<Event, Long> ticks = Scenario.of(events, "tick").keyBy(Churn::keyOfTick);
        TypeInformation<Tuple2<Long, Long>> sums = Types.TUPLE(Types.LONG, Types.LONG);
        ticks.window(TumblingEventTimeWindows.of(Duration.ofMillis(HOUR)))
                .aggregate(new EventMean(run), sums, Types.DOUBLE)
                .uid("tumbling");
        ticks.window(EventTimeSessionWindows.withGap(Duration.ofMillis(GAP)))
                .aggregate(new EventMean(run), sums, Types.DOUBLE)
                .uid("session");
        Scenario.of(events, "flood")
                .rebalance()
                .process(new Slow())
                .uid("slow");
    }

    /** The operator `churn`. */
    void churn(KeyedStream<Event, String> events, String run) {
        events.process(new Churning<>(run, churnStates())).uid("churn");
    }

    /** The operator `pairs`. */
    void pairs(KeyedStream<Event, Tuple2<Integer, String>> events, String run) {
        events.process(new Churning<>(run, pairStates())).uid("pairs");
    }

    private static List<StateDescriptor<?, ?>> churnStates() {
        StateTtlConfig ttl = StateTtlConfig.newBuilder(Duration.ofDays(365)).build();
        List<StateDescriptor<?, ?>> kept = List.of(
                new ValueStateDescriptor<>("kept", Types.STRING),
                new ListStateDescriptor<>("kept-lines", Types.LONG),
                new MapStateDescriptor<>("kept-scores", Types.STRING, Types.LONG));
        kept.forEach(state -> state.enableTimeToLive(ttl));
        List<StateDescriptor<?, ?>> states = new ArrayList<>(List.of(
                new ValueStateDescriptor<>("count", Types.LONG),
                new ValueStateDescriptor<>("text", Types.STRING),
                new ListStateDescriptor<>("lines", Types.STRING),
                new MapStateDescriptor<>("scores", Types.LONG, Types.STRING),
                new ReducingStateDescriptor<>("sum", Long::sum, Types.LONG),
                new AggregatingStateDescriptor<>("mean", new LongMean(), Types.TUPLE(Types.LONG, Types.LONG))));
        states.addAll(kept);
        return states;
    }

    private static List<StateDescriptor<?, ?>> pairStates() {
        return new ArrayList<>(List.of(
                new ValueStateDescriptor<>("latest", Types.TUPLE(Types.LONG, Types.STRING)),
                new MapStateDescriptor<>("shares", Types.TUPLE(Types.INT, Types.STRING), Types.DOUBLE)));
    }

    private static final class Churning<K> extends KeyedProcessFunction<K, Event, Void> {
        private final String run;
        private final List<StateDescriptor<?, ?>> descriptors;
        private transient Map<String, State> states;

        Churning(String run, List<StateDescriptor<?, ?>> descriptors) {
            this.run = run;
            this.descriptors = descriptors;
        }

        @Override
        public void open(OpenContext context) {
            states = new LinkedHashMap<>();
            descriptors.forEach(descriptor -> states.put(descriptor.getName(), state(descriptor)));
        }

        private State state(StateDescriptor<?, ?> descriptor) {
            if (descriptor instanceof ValueStateDescriptor) {
                return getRuntimeContext().getState((ValueStateDescriptor<?>) descriptor);
            } else if (descriptor instanceof ListStateDescriptor) {
                return getRuntimeContext().getListState((ListStateDescriptor<?>) descriptor);
            } else if (descriptor instanceof MapStateDescriptor) {
                return getRuntimeContext().getMapState((MapStateDescriptor<?, ?>) descriptor);
            } else if (descriptor instanceof ReducingStateDescriptor) {
                return getRuntimeContext().getReducingState((ReducingStateDescriptor<?>) descriptor);
            }
            return getRuntimeContext().getAggregatingState((AggregatingStateDescriptor<?, ?, ?>) descriptor);
        }

        @Override
        public void processElement(Event e, Context context, Collector<Void> out) throws Exception {
            for (Step step : steps(e)) {
                if (step.op == Op.REGISTER || step.op == Op.DELETE) {
                    time(context.timerService(), step);
                } else {
                    take(states.get(step.state), step);
                }
            }
            Gate.of(run).processed.incrementAndGet();
        }

        @SuppressWarnings("unchecked")
        private static void take(State state, Step step) throws Exception {
            switch (step.op) {
                case SET:
                    ((ValueState<Object>) state).update(step.value);
                    break;
                case UPDATE:
                    ((ListState<Object>) state).update((List<Object>) step.value);
                    break;
                case ADD_ALL:
                    ((ListState<Object>) state).addAll((List<Object>) step.value);
                    break;
                case ADD:
                    ((AppendingState<Object, ?>) state).add(step.value);
                    break;
                case PUT:
                    ((MapState<Object, Object>) state).put(step.key, step.value);
                    break;
                case REMOVE:
                    ((MapState<Object, Object>) state).remove(step.key);
                    break;
                default:
                    state.clear();
            }
        }
    }

    static void time(TimerService timers, Step step) {
        long timestamp = (Long) step.value;
        if (step.state.equals("event")) {
            if (step.op == Op.REGISTER) {
                timers.registerEventTimeTimer(timestamp);
            } else {
                timers.deleteEventTimeTimer(timestamp);
            }
        } else if (step.op == Op.REGISTER) {
            timers.registerProcessingTimeTimer(timestamp);
        } else {
            timers.deleteProcessingTimeTimer(timestamp);
        }
    }

    static final class LongMean extends Mean<Long> {
        @Override
        public Tuple2<Long, Long> add(Long value, Tuple2<Long, Long> sum) {
            return plus(value, sum);
        }
    }

    abstract static class Mean<T> implements AggregateFunction<T, Tuple2<Long, Long>, Double> {
        static Tuple2<Long, Long> plus(long value, Tuple2<Long, Long> sum) {
            return Tuple2.of(sum.f0 + value, sum.f1 + 1);
        }

        @Override
        public Tuple2<Long, Long> createAccumulator() {
            return Tuple2.of(0L, 0L);
        }

        @Override
        public Double getResult(Tuple2<Long, Long> sum) {
            return (double) sum.f0 / sum.f1;
        }

        @Override
        public Tuple2<Long, Long> merge(Tuple2<Long, Long> a, Tuple2<Long, Long> b) {
            return Tuple2.of(a.f0 + b.f0, a.f1 + b.f1);
        }
    }

    private static final class EventMean extends Mean<Event> {
        private final String run;

        EventMean(String run) {
            this.run = run;
        }

        @Override
        public Tuple2<Long, Long> add(Event e, Tuple2<Long, Long> sum) {
            Gate.of(run).processed.incrementAndGet();
            return plus(e.index + e.round, sum);
        }
    }

    private static final class Slow extends ProcessFunction<Event, Void> {
        @Override
        public void processElement(Event e, Context context, Collector<Void> out) throws Exception {
            Thread.sleep(20);
        }
    }
}
