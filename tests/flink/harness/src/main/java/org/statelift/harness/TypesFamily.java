package org.statelift.harness;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.State;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.state.StateTtlConfig;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.functions.KeySelector;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.KeyedStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;

/**
 * State of some types: value, list and map states, map states by keys of the type, with and without TTL, operator
 * and broadcast states; keys and timers of types that can be a key. Each state of each key is written once.
 */
abstract class TypesFamily implements Family {

    private static final long TIMERS = 4_000_000_000_000L; // far ahead of every watermark of a write

    /** Types whose values take no bytes: a list of them is lost in Flink. */
    private static final Set<String> NO_BYTES = Set.of("null_value", "empty");

    /** The functions of a job find its types by the name of its class: the types themselves are not sent to them. */
    private static final Map<String, TypesFamily> BUILT = new ConcurrentHashMap<>();

    private final String name = getClass().getName();
    private final List<TypeCase<?>> cases;
    private final Choice choice;
    private final Map<String, KeyedOperator> operators = new LinkedHashMap<>();

    /**
     * Some of the types by their names.
     *
     * @param storesNull whose serializers write null: in a canonical savepoint the heap has them write a map's null
     *     values
     * @param unnamed of values whose end no snapshot of the heap tells: what comes behind them is not read
     * @param withTtl that are in states with a time to live too
     */
    record Choice(Set<String> storesNull, List<String> unnamed, List<String> withTtl) {}

    /** All types of `cases` are in states of each kind; those of `unheld` in states of an operator apart. */
    TypesFamily(List<TypeCase<?>> cases, List<TypeCase<?>> unheld, Choice choice, List<KeyedOperator> byKeys) {
        this.cases = cases;
        this.choice = choice;
        List<KeyedOperator> all = new ArrayList<>(List.of(values(), lists(), maps(), byKey(), withTtl(), unnamed()));
        if (!unheld.isEmpty()) {
            all.add(byText("unheld", ofEachKind(unheld, unheld.stream().map(TypeCase::name).toList())));
        }
        all.addAll(byKeys);
        all.forEach(operator -> operators.put(operator.uid, operator));
    }

    static TypesFamily built(String name) {
        return BUILT.get(name);
    }

    /** The types of operator states: those that have values, and say where these end. */
    List<TypeCase<?>> elements() {
        return cases.stream()
                .filter(one -> !one.values().isEmpty() && !choice.unnamed.contains(one.name()))
                .toList();
    }

    /** A state, what it holds for the n-th key of its operator, and what the JSON of that is made of. */
    record Held(StateDescriptor<?, ?> state, Map<Integer, Object> contents, Function<Object, Object> shown) {}

    record KeyedOperator(
            String uid, TypeInformation<?> keyType, List<?> keys, Function<Object, Object> shownKey, boolean timers,
            List<Held> states) {

        /** What the JSON of a state's content, or of a key (state null), is made of. */
        Object shown(String state, Object value) {
            if (state == null) {
                return shownKey.apply(value);
            }
            return states.stream()
                    .filter(held -> held.state.getName().equals(state))
                    .findFirst()
                    .orElseThrow()
                    .shown
                    .apply(value);
        }
    }

    // ---- what is in the states

    private static KeyedOperator byText(String uid, List<Held> states) {
        int keys = states.stream().flatMap(held -> held.contents.keySet().stream()).max(Integer::compare).get() + 1;
        List<String> names = java.util.stream.IntStream.range(0, keys).mapToObj(i -> "k" + i).toList();
        return new KeyedOperator(uid, Types.STRING, names, key -> key, false, states);
    }

    private static Held value(TypeCase<?> one) {
        Map<Integer, Object> contents = new LinkedHashMap<>();
        one.values().forEach(value -> contents.put(contents.size(), value));
        return new Held(one.value(one.name()), contents, one::show);
    }

    /** All values in one list, the last one alone in another, and no list. */
    private static Held list(TypeCase<?> one) {
        Object last = one.values().get(one.values().size() - 1);
        return new Held(
                one.list(one.name()),
                Map.of(0, new ArrayList<>(one.values()), 1, List.of(last)),
                list -> stream((Iterable<?>) list).map(one::show).collect(Collectors.toList()));
    }

    private static java.util.stream.Stream<?> stream(Iterable<?> elements) {
        return java.util.stream.StreamSupport.stream(elements.spliterator(), false);
    }

    /** The values by their numbers, and a null where the heap backend can write one. */
    private Held map(TypeCase<?> one) {
        Map<String, Object> all = new LinkedHashMap<>();
        one.values().forEach(value -> all.put(Integer.toString(all.size()), value));
        Map<String, Object> nulls = new LinkedHashMap<>(Map.of("there", one.values().get(0)));
        if (choice.storesNull.contains(one.name())) {
            nulls.put("null", null);
        }
        return new Held(one.map(one.name()), Map.of(0, all, 1, nulls), map -> shownMap((Map<?, ?>) map, k -> k, one::show));
    }

    private static Held mapBy(TypeCase<?> one) {
        Map<Object, Integer> numbers = new LinkedHashMap<>();
        one.values().forEach(value -> numbers.put(value, numbers.size()));
        return new Held(one.mapBy(one.name()), Map.of(0, numbers), map -> shownMap((Map<?, ?>) map, one::show, v -> v));
    }

    private static Map<Object, Object> shownMap(Map<?, ?> map, Function<Object, Object> key, Function<Object, Object> value) {
        Map<Object, Object> shown = new LinkedHashMap<>();
        map.forEach((k, v) -> shown.put(key.apply(k), value.apply(v)));
        return shown;
    }

    private KeyedOperator values() {
        return byText("values", with(TypesFamily::value));
    }

    private KeyedOperator lists() {
        return byText("lists", with(one -> NO_BYTES.contains(one.name()) ? value(one) : list(one)));
    }

    private KeyedOperator maps() {
        return byText("maps", with(this::map));
    }

    private List<Held> with(Function<TypeCase<?>, Held> held) {
        return elements().stream().map(held).toList();
    }

    private KeyedOperator unnamed() {
        return byText("unnamed", ofEachKind(cases, choice.unnamed));
    }

    private KeyedOperator byKey() {
        return byText("map-keys", cases.stream().filter(TypeCase::hashes).map(TypesFamily::mapBy).toList());
    }

    private KeyedOperator withTtl() {
        StateTtlConfig ttl = StateTtlConfig.newBuilder(Duration.ofDays(365)).build();
        List<Held> states = ofEachKind(cases, choice.withTtl);
        states.forEach(held -> held.state.enableTimeToLive(ttl));
        return byText("ttl", states);
    }

    private List<Held> ofEachKind(List<TypeCase<?>> cases, List<String> names) {
        List<Held> states = new ArrayList<>();
        for (TypeCase<?> one : cases) {
            if (names.contains(one.name())) {
                states.add(new Held(one.value("v-" + one.name()), value(one).contents, one::show));
                states.add(new Held(one.list("l-" + one.name()), list(one).contents, list(one).shown));
                states.add(new Held(one.map("m-" + one.name()), map(one).contents, map(one).shown));
            }
        }
        return states;
    }

    // ---- the job and its model

    @Override
    public Script script(JobSpec spec) {
        return new Input(name, events().size());
    }

    /** One for each key of each operator. */
    List<Event> events() {
        List<Event> events = new ArrayList<>();
        for (KeyedOperator operator : operators.values()) {
            for (int i = 0; i < operator.keys.size(); i++) {
                events.add(new Event(operator.uid, i, 0));
            }
        }
        return events;
    }

    private record Input(String family, int size) implements Script {
        @Override
        public int rounds() {
            return 1;
        }

        @Override
        public int size(int round) {
            return size;
        }

        @Override
        public Event event(int round, int position) {
            return built(family).events().get(position);
        }
    }

    @Override
    public void expect(Contents contents, JobSpec spec, Script script) {
        for (KeyedOperator operator : operators.values()) {
            for (int i = 0; i < operator.keys.size(); i++) {
                Object key = shownKey(operator, operator.keys.get(i));
                for (Held held : operator.states) {
                    Object content = held.contents.get(i);
                    if (content != null) {
                        String kind = held.state.getType().name().toLowerCase();
                        contents.keyed(operator.uid, held.state.getName(), kind, key, held.shown.apply(content));
                    }
                }
                if (operator.timers) {
                    contents.timer(operator.uid, "timers", "user-timers/event", key, TIMERS + i);
                    contents.timer(operator.uid, "timers", "user-timers/processing", key, TIMERS + i);
                }
            }
        }
        TypesElements.expect(elements(), contents, spec.parallelism);
        ScriptSource.expect(contents, script.rounds());
    }

    private static Object shownKey(KeyedOperator operator, Object key) {
        Object shown = operator.shownKey.apply(key);
        return shown == key ? key : new Shown(key, Json.value(shown));
    }

    @Override
    public void build(StreamExecutionEnvironment env, JobSpec spec, String run, Script script) {
        BUILT.put(name, this);
        DataStream<Event> events = env.fromSource(
                        new ScriptSource(run, script),
                        WatermarkStrategy.<Event>noWatermarks().withTimestampAssigner((e, at) -> TypesWindows.time(e)),
                        "gen",
                        TypeInformation.of(Event.class))
                .uid(ScriptSource.UID)
                .setParallelism(1);
        build(events, script == null ? run : null);
    }

    /** The operators; each records what it finds under the name of the run `record`, null in a job that writes. */
    void build(DataStream<Event> events, String record) {
        operators.values().forEach(operator -> keyed(events, operator, record));
        TypesElements.build(Scenario.of(events, TypesElements.UID), name, record);
    }

    private static KeyedOperator operator(String family, String uid) {
        return built(family).operators.get(uid);
    }

    @SuppressWarnings("unchecked")
    private void keyed(DataStream<Event> events, KeyedOperator operator, String record) {
        String uid = operator.uid;
        String family = name;
        KeySelector<Event, Object> selector = e -> operator(family, e.kind).keys.get(e.index);
        KeyedStream<Event, Object> keyed =
                Scenario.of(events, uid).keyBy(selector, (TypeInformation<Object>) operator.keyType);
        Writing function = new Writing(family, uid, record);
        List<StateDescriptor<?, ?>> states = operator.states.stream()
                .<StateDescriptor<?, ?>>map(Held::state)
                .collect(Collectors.toCollection(ArrayList::new));
        (record == null
                        ? keyed.process(function)
                        : keyed.transform("dump", Types.VOID, new KeyedDump<>(record, uid, function, states,
                                (state, value) -> operator(family, uid).shown(state, value))))
                .uid(uid);
    }

    /** Writes what the states hold for each key that comes. */
    private static final class Writing extends KeyedProcessFunction<Object, Event, Void> {
        private final String family;
        private final String uid;
        private final String record;
        private transient List<State> states;

        Writing(String family, String uid, String record) {
            this.family = family;
            this.uid = uid;
            this.record = record;
        }

        @Override
        public void open(OpenContext context) {
            states = operator(family, uid).states.stream().map(held -> state(held.state)).toList();
        }

        private State state(StateDescriptor<?, ?> descriptor) {
            if (descriptor instanceof ValueStateDescriptor) {
                return getRuntimeContext().getState((ValueStateDescriptor<?>) descriptor);
            } else if (descriptor instanceof ListStateDescriptor) {
                return getRuntimeContext().getListState((ListStateDescriptor<?>) descriptor);
            }
            return getRuntimeContext().getMapState((MapStateDescriptor<?, ?>) descriptor);
        }

        @Override
        @SuppressWarnings("unchecked")
        public void processElement(Event e, Context context, Collector<Void> out) throws Exception {
            for (int i = 0; i < states.size(); i++) {
                Object content = operator(family, uid).states.get(i).contents.get(e.index);
                if (content == null) {
                    continue;
                } else if (states.get(i) instanceof ValueState) {
                    ((ValueState<Object>) states.get(i)).update(content);
                } else if (states.get(i) instanceof ListState) {
                    ((ListState<Object>) states.get(i)).update((List<Object>) content);
                } else {
                    ((MapState<Object, Object>) states.get(i)).putAll((Map<Object, Object>) content);
                }
            }
            if (operator(family, uid).timers) {
                context.timerService().registerEventTimeTimer(TIMERS + e.index);
                context.timerService().registerProcessingTimeTimer(TIMERS + e.index);
            }
        }

        @Override
        public void onTimer(long timestamp, OnTimerContext context, Collector<Void> out) {
            KeyedOperator operator = operator(family, uid);
            Contents.of(record).timer(
                    uid, "fired", "user-timers/event", shownKey(operator, context.getCurrentKey()), timestamp);
        }
    }
}
