package org.statelift.harness;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.TypeHint;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.runtime.state.FunctionInitializationContext;
import org.apache.flink.runtime.state.FunctionSnapshotContext;
import org.apache.flink.streaming.api.checkpoint.CheckpointedFunction;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.KeyedStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.streaming.api.functions.ProcessFunction;
import org.apache.flink.streaming.api.functions.co.KeyedBroadcastProcessFunction;
import org.apache.flink.util.Collector;
import org.example.lab.M.FraudScore;
import org.example.lab.M.Rule;
import org.example.lab.M.UserState;

/** The jobs this product is for: fraud-detector, session-tracker, buffering-sink and rules. */
final class Scenario implements Family {

    private static final long T0 = 1_700_000_000_000L;
    private static final long TIMERS = 4_000_000_000_000L; // far ahead of every watermark of a write
    private static final int RULES = 10;

    // ---- the input and what is made of it, for the job and its model alike

    @Override
    public Script script(JobSpec spec) {
        return new Input(spec.keys, spec.rounds);
    }

    private record Input(int keys, int rounds) implements Script {
        @Override
        public int size(int round) {
            return 3 * keys + (round == 0 ? RULES : 0);
        }

        @Override
        public Event event(int round, int position) {
            int index = position % keys;
            switch (position / keys) {
                case 0:
                    return (index + round) % 2 == 0 ? new Event("tx", index, round) : null;
                case 1:
                    return new Event("session", index, round);
                case 2:
                    return index % rounds == round ? new Event("element", index, round) : null;
                default:
                    return new Event("rule", position - 3 * keys, round);
            }
        }
    }

    static FraudScore score(Event e) {
        return new FraudScore((e.index * 31 + e.round * 17) % 100 / 100.0, txTime(e));
    }

    static long txTime(Event e) {
        return T0 + e.round * 700L + e.index % 5 * 10;
    }

    /** Every tenth user is corrupt: last seen at a negative time. */
    static UserState user(Event e) {
        long seen = T0 + e.index + 10 * (e.index % 5);
        String status = new String[] {"ACTIVE", "IDLE", null}[e.index % 3];
        return new UserState(key(e), e.index % 10 == 0 ? -seen : seen, false, status);
    }

    /** What a round adds to the list of a user: nothing, one or two elements. */
    static List<Long> recent(Event e) {
        List<Long> added = new ArrayList<>();
        for (int i = 0; i < (e.index + e.round) % 3; i++) {
            added.add(T0 + e.index + e.round * 1000L + i * 500L);
        }
        return added;
    }

    static long timer(Event e) {
        return TIMERS + e.index * 1000L;
    }

    static Rule rule(Event e) {
        String action = new String[] {"BLOCK", "REVIEW", null}[e.index % 3];
        return new Rule(e.index % 2 == 0 ? "AMOUNT" : "VELOCITY", action, e.index * 100.5);
    }

    static String key(Event e) {
        return (e.kind.equals("tx") ? "account-" : "user-") + e.index;
    }

    @Override
    public void expect(Contents contents, JobSpec spec, Script script) {
        Map<String, Long> times = new LinkedHashMap<>();
        Map<String, Map<String, FraudScore>> scores = new LinkedHashMap<>();
        Map<String, UserState> users = new LinkedHashMap<>();
        Map<String, List<Long>> recents = new LinkedHashMap<>();
        Map<String, Long> timers = new LinkedHashMap<>();
        int[] buffered = new int[spec.sinkParallelism];
        Map<String, Rule> rules = new LinkedHashMap<>();
        for (int round = 0; round < script.rounds(); round++) {
            for (int position = 0; position < script.size(round); position++) {
                Event e = script.event(round, position);
                if (e == null) {
                    continue;
                }
                switch (e.kind) {
                    case "tx":
                        times.put(key(e), txTime(e));
                        scores.computeIfAbsent(key(e), k -> new LinkedHashMap<>())
                                .put("tx-" + e.index + "-" + e.round, score(e));
                        break;
                    case "session":
                        users.put(key(e), user(e));
                        if (!recent(e).isEmpty()) {
                            recents.computeIfAbsent(key(e), k -> new ArrayList<>()).addAll(recent(e));
                        }
                        timers.put(key(e), timer(e));
                        break;
                    case "element":
                        int subtask = e.index % spec.sinkParallelism;
                        contents.element("buffering-sink", "buffered-elements", "split", subtask,
                                buffered[subtask]++, Tuple2.of("element-" + e.index, e.index));
                        break;
                    default:
                        rules.put("rule-" + e.index, rule(e));
                }
            }
        }
        times.forEach((k, v) -> contents.keyed("fraud-detector", "last-tx-timestamp", "value", k, v));
        scores.forEach((k, v) -> contents.keyed("fraud-detector", "fraud-scores", "map", k, v));
        users.forEach((k, v) -> contents.keyed("session-tracker", "user-state", "value", k, v));
        recents.forEach((k, v) -> contents.keyed("session-tracker", "recent", "list", k, v));
        timers.forEach((k, ts) -> contents.timer("session-tracker", "timers", "user-timers/event", k, ts));
        for (int subtask = 0; subtask < spec.parallelism; subtask++) {
            int at = subtask;
            rules.forEach((k, v) -> contents.broadcast("rules", "rules", at, k, v));
            for (int position = 0; position < LoggedRule.COUNT; position++) {
                contents.element("rules", "rule-log", "union", subtask, position,
                        LoggedRule.text(subtask, position));
            }
        }
        ScriptSource.expect(contents, script.rounds());
    }

    /** The first rules leave a line each in the union list of every subtask. */
    private static final class LoggedRule {
        static final int COUNT = 4;

        static String text(int subtask, int rule) {
            return "subtask " + subtask + " saw rule-" + rule;
        }
    }

    // ---- the job

    @Override
    public void build(StreamExecutionEnvironment env, JobSpec spec, String run, Script script) {
        String record = script == null ? run : null;
        DataStream<Event> events = env.fromSource(
                        new ScriptSource(run, script), WatermarkStrategy.noWatermarks(), "gen",
                        TypeInformation.of(Event.class))
                .uid(ScriptSource.UID)
                .setParallelism(1);
        DataStream<Event> transactions = of(events, "tx");
        keyed(transactions, new FraudDetector(), "fraud-detector", record, List.of(times(), scores()));
        keyed(of(events, "session"), new SessionTracker(record), "session-tracker", record,
                List.of(users(), recents()));
        of(events, "element")
                .partitionCustom((index, subtasks) -> index % subtasks, e -> e.index)
                .process(new BufferingSink(record))
                .uid("buffering-sink")
                .setParallelism(spec.sinkParallelism);
        transactions.keyBy(Scenario::key)
                .connect(of(events, "rule").broadcast(rules()))
                .process(new Rules(record))
                .uid("rules");
    }

    static DataStream<Event> of(DataStream<Event> events, String kind) {
        return events.filter(e -> e.kind.equals(kind)).name("only " + kind).setParallelism(1);
    }

    private static void keyed(
            DataStream<Event> events,
            KeyedProcessFunction<String, Event, Void> function,
            String uid,
            String record,
            List<StateDescriptor<?, ?>> states) {
        KeyedStream<Event, String> keyed = events.keyBy(Scenario::key);
        SingleOutputStreamOperator<Void> operator = record == null
                ? keyed.process(function)
                : keyed.transform("KeyedProcess", Types.VOID, new KeyedDump<>(record, uid, function, states));
        operator.uid(uid);
    }

    static ValueStateDescriptor<Long> times() {
        return new ValueStateDescriptor<>("last-tx-timestamp", Types.LONG);
    }

    static MapStateDescriptor<String, FraudScore> scores() {
        return new MapStateDescriptor<>("fraud-scores", Types.STRING, TypeInformation.of(FraudScore.class));
    }

    static ValueStateDescriptor<UserState> users() {
        return new ValueStateDescriptor<>("user-state", TypeInformation.of(UserState.class));
    }

    static ListStateDescriptor<Long> recents() {
        return new ListStateDescriptor<>("recent", Types.LONG);
    }

    static ListStateDescriptor<Tuple2<String, Integer>> buffered() {
        return new ListStateDescriptor<>("buffered-elements", TypeInformation.of(new TypeHint<>() {}));
    }

    static MapStateDescriptor<String, Rule> rules() {
        return new MapStateDescriptor<>("rules", Types.STRING, TypeInformation.of(Rule.class));
    }

    static ListStateDescriptor<String> ruleLog() {
        return new ListStateDescriptor<>("rule-log", Types.STRING);
    }

    private static final class FraudDetector extends KeyedProcessFunction<String, Event, Void> {
        private transient ValueState<Long> time;
        private transient MapState<String, FraudScore> scores;

        @Override
        public void open(OpenContext context) {
            time = getRuntimeContext().getState(times());
            scores = getRuntimeContext().getMapState(scores());
        }

        @Override
        public void processElement(Event e, Context context, Collector<Void> out) throws Exception {
            time.update(txTime(e));
            scores.put("tx-" + e.index + "-" + e.round, score(e));
        }
    }

    private static final class SessionTracker extends KeyedProcessFunction<String, Event, Void> {
        private final String record;
        private transient ValueState<UserState> user;
        private transient ListState<Long> recent;

        SessionTracker(String record) {
            this.record = record;
        }

        @Override
        public void open(OpenContext context) {
            user = getRuntimeContext().getState(users());
            recent = getRuntimeContext().getListState(recents());
        }

        @Override
        public void processElement(Event e, Context context, Collector<Void> out) throws Exception {
            user.update(user(e));
            for (Long element : recent(e)) {
                recent.add(element);
            }
            context.timerService().registerEventTimeTimer(timer(e));
        }

        @Override
        public void onTimer(long timestamp, OnTimerContext context, Collector<Void> out) {
            Contents.of(record).timer(
                    "session-tracker", "fired", "user-timers/event", context.getCurrentKey(), timestamp);
        }
    }

    private static final class BufferingSink extends ProcessFunction<Event, Void> implements CheckpointedFunction {
        private final String record;
        private transient List<Tuple2<String, Integer>> elements;
        private transient ListState<Tuple2<String, Integer>> state;

        BufferingSink(String record) {
            this.record = record;
        }

        @Override
        public void processElement(Event e, Context context, Collector<Void> out) {
            elements.add(Tuple2.of("element-" + e.index, e.index));
        }

        @Override
        public void initializeState(FunctionInitializationContext context) throws Exception {
            elements = new ArrayList<>();
            int subtask = getRuntimeContext().getTaskInfo().getIndexOfThisSubtask();
            OperatorDump dump = OperatorDump.of(record, "buffering-sink", subtask, context);
            if (dump != null) {
                dump.nothingElse(Set.of("buffered-elements"), Set.of());
                dump.list(buffered(), "split");
            }
            state = context.getOperatorStateStore().getListState(buffered());
        }

        @Override
        public void snapshotState(FunctionSnapshotContext context) throws Exception {
            state.update(elements);
        }
    }

    private static final class Rules extends KeyedBroadcastProcessFunction<String, Event, Event, Void>
            implements CheckpointedFunction {
        private final String record;
        private transient ListState<String> log;

        Rules(String record) {
            this.record = record;
        }

        @Override
        public void processElement(Event e, ReadOnlyContext context, Collector<Void> out) {}

        @Override
        public void processBroadcastElement(Event e, Context context, Collector<Void> out) throws Exception {
            context.getBroadcastState(rules()).put("rule-" + e.index, rule(e));
            if (e.index < LoggedRule.COUNT) {
                log.add(LoggedRule.text(getRuntimeContext().getTaskInfo().getIndexOfThisSubtask(), e.index));
            }
        }

        @Override
        public void initializeState(FunctionInitializationContext context) throws Exception {
            int subtask = getRuntimeContext().getTaskInfo().getIndexOfThisSubtask();
            OperatorDump dump = OperatorDump.of(record, "rules", subtask, context);
            if (dump != null) {
                dump.nothingElse(Set.of("rule-log"), Set.of("rules"));
                dump.broadcast(rules());
                dump.list(ruleLog(), "union");
            }
            log = context.getOperatorStateStore().getUnionListState(ruleLog());
        }

        @Override
        public void snapshotState(FunctionSnapshotContext context) {}
    }
}
