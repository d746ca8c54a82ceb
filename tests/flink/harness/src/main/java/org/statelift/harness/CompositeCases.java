package org.statelift.harness;

import static org.statelift.harness.TypeCase.by;
import static org.statelift.harness.TypeCase.of;

import java.math.BigDecimal;
import java.sql.Timestamp;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import org.apache.flink.api.common.typeinfo.TypeHint;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.api.java.tuple.Tuple1;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.api.java.tuple.Tuple3;
import org.apache.flink.api.java.tuple.Tuple25;
import org.apache.flink.api.java.typeutils.GenericTypeInfo;
import org.apache.flink.api.java.typeutils.ObjectArrayTypeInfo;
import org.apache.flink.api.java.typeutils.runtime.NullableSerializer;
import org.apache.flink.api.java.typeutils.runtime.TupleSerializer;
import org.apache.flink.streaming.api.datastream.CoGroupedStreams;
import org.apache.flink.streaming.api.operators.co.IntervalJoinOperator;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamElement;
import org.apache.flink.streaming.runtime.streamrecord.StreamElementSerializer;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.types.Either;
import org.apache.flink.types.Row;
import org.apache.flink.types.RowKind;
import org.example.lab.T;

/** Types with parts: collections, tuples, rows, POJOs, records, unions; and what is left to Kryo. */
final class CompositeCases {

    private CompositeCases() {}

    static List<TypeCase<?>> all() {
        List<TypeCase<?>> cases = new ArrayList<>();
        collections(cases);
        tuples(cases);
        rows(cases);
        pojos(cases);
        unions(cases);
        kryo(cases);
        return cases;
    }

    private static void collections(List<TypeCase<?>> cases) {
        Map<String, Long> sparse = new HashMap<>();
        sparse.put("a", 1L);
        sparse.put("b", null);
        sparse.put(CoreCases.UNICODE, Long.MIN_VALUE);
        TypeInformation<List<Long>> deep = Types.LIST(Types.LONG);
        List<Long> one = List.of(1L, -1L);
        Collections.addAll(
                cases,
                of("list", Types.LIST(Types.STRING), List.of(), List.of("a", "", CoreCases.UNICODE), listOfNulls()),
                of("nested_list", Types.LIST(Types.LIST(Types.LIST(deep))), List.of(),
                        List.of(List.of(), List.of(List.of(), List.of(one, List.of(), one)))),
                of("map", Types.MAP(Types.STRING, Types.LONG), Map.of(), sparse),
                of("map_of_lists", Types.MAP(Types.INT, Types.LIST(Types.TUPLE(Types.STRING, Types.INT))),
                        Map.of(1, List.of(Tuple2.of("a", 1)), 2, List.of())),
                of("tuples", ObjectArrayTypeInfo.getInfoFor(Tuple2[].class, pair()), pairs(), pairs(Tuple2.of("a", 1), null)),
                of("int_matrix", ObjectArrayTypeInfo.getInfoFor(
                                int[][].class, org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo
                                        .INT_PRIMITIVE_ARRAY_TYPE_INFO),
                        new int[0][], new int[][] {{1, 2}, null, {}}),
                of("enum", Types.ENUM(T.Color.class), T.Color.RED, T.Color.GREEN, T.Color.BLUE));
        setOfStrings().ifPresent(cases::add);
    }

    private static List<String> listOfNulls() {
        return new ArrayList<>(Arrays.asList(null, "x", null));
    }

    @SuppressWarnings("unchecked")
    private static TypeInformation<Tuple2<String, Integer>> pair() {
        return Types.TUPLE(Types.STRING, Types.INT);
    }

    @SafeVarargs
    private static Tuple2<String, Integer>[] pairs(Tuple2<String, Integer>... pairs) {
        return pairs;
    }

    /** Flink 2 has a serializer of sets. */
    @SuppressWarnings("unchecked")
    private static Optional<TypeCase<?>> setOfStrings() {
        try {
            Class<?> serializer = Class.forName("org.apache.flink.api.common.typeutils.base.SetSerializer");
            TypeSerializer<Set<String>> made = (TypeSerializer<Set<String>>)
                    serializer.getConstructor(TypeSerializer.class).newInstance(StringSerializer.INSTANCE);
            return Optional.of(by("set", made, Set.of(), Set.of("a", "", CoreCases.UNICODE)));
        } catch (ReflectiveOperationException e) {
            return Optional.empty();
        }
    }

    private static void tuples(List<TypeCase<?>> cases) {
        Tuple25<Integer, String, Integer, String, Integer, String, Integer, String, Integer, String, Integer, String,
                Integer, String, Integer, String, Integer, String, Integer, String, Integer, String, Integer, String,
                Integer> wide = new Tuple25<>();
        TypeInformation<?>[] parts = new TypeInformation<?>[25];
        for (int i = 0; i < 25; i++) {
            parts[i] = i % 2 == 0 ? Types.INT : Types.STRING;
            wide.setField(i % 2 == 0 ? (Object) i : "s" + i, i);
        }
        TypeSerializer<?>[] nullable = {
            NullableSerializer.wrap(IntSerializer.INSTANCE, false),
            NullableSerializer.wrap(LongSerializer.INSTANCE, true),
            StringSerializer.INSTANCE
        };
        @SuppressWarnings("unchecked")
        Class<Tuple3<Integer, Long, String>> three = (Class<Tuple3<Integer, Long, String>>) (Class<?>) Tuple3.class;
        TypeInformation<Tuple2<Tuple1<Double>, Tuple2<String, Integer>>> nested =
                Types.TUPLE(Types.TUPLE(Types.DOUBLE), pair());
        Collections.addAll(
                cases,
                of("tuple", pair(), Tuple2.of("a", 1), Tuple2.of(null, -1), Tuple2.of(",", 44)).hashing(),
                of("nested_tuple", nested, Tuple2.of(Tuple1.of(-0d), Tuple2.of("", 0))).hashing(),
                of("tuple25", Types.TUPLE(parts), wide),
                by("nullable", new TupleSerializer<>(three, nullable), Tuple3.of(1, 2L, "x"),
                        Tuple3.of(null, null, null), Tuple3.of(null, Long.MIN_VALUE, "")));
    }

    private static void rows(List<TypeCase<?>> cases) {
        TypeInformation<?>[] many = new TypeInformation<?>[20];
        Arrays.fill(many, Types.INT);
        Row sparse = new Row(20);
        sparse.setField(6, 6);
        sparse.setField(19, 19);
        Row[] kinds = new Row[4];
        for (RowKind kind : RowKind.values()) {
            kinds[kind.toByteValue()] = Row.ofKind(kind, "k", kind.ordinal(), null);
        }
        Collections.addAll(
                cases,
                of("row", Types.ROW(Types.STRING, Types.INT, Types.DOUBLE), kinds),
                of("wide_row", Types.ROW(many), new Row(20), sparse),
                of("named_row",
                        Types.ROW_NAMED(new String[] {"who", "when", "where"}, Types.STRING, Types.LOCAL_DATE,
                                Types.ROW(Types.LONG, Types.LIST(Types.STRING))),
                        Row.of("x", null, Row.of(1L, List.of("deep", ""))), new Row(3)));
    }

    private static void pojos(List<TypeCase<?>> cases) {
        T.Person full = new T.Person();
        full.name = CoreCases.UNICODE;
        full.age = -1;
        full.seen = Long.MAX_VALUE;
        full.active = true;
        full.home = new T.Address();
        full.home.street = "";
        full.home.number = 7;
        full.color = T.Color.GREEN;
        full.balance = new BigDecimal("1E+3");
        full.scores = new int[] {1, -2};
        full.nicks = new String[] {"n", null};
        full.initial = 'é';
        full.born = Instant.ofEpochSecond(-184_000_000, 1);
        full.changed = new Timestamp(1234);
        full.ratio = -0d;
        full.small = -128;
        T.Collections some = new T.Collections();
        some.tags = new ArrayList<>(List.of("t1", "u"));
        some.counts = new HashMap<>(Map.of("c", 3));
        some.ids = new java.util.HashSet<>(Set.of(5L));
        some.since = LocalDate.of(1964, 2, 29);
        some.total = 9;
        T.Box<Tuple2<String, Integer>> box = new T.Box<>();
        box.content = Tuple2.of("boxed", 1);
        T.Base base = new T.Base();
        base.b = 1;
        T.Registered registered = new T.Registered();
        registered.b = 2;
        registered.extra = "more";
        T.Unregistered unregistered = new T.Unregistered();
        unregistered.b = 3;
        unregistered.more = 3000;
        Collections.addAll(
                cases,
                of("pojo", TypeInformation.of(T.Person.class), full, new T.Person()),
                of("pojo_of_collections", TypeInformation.of(T.Collections.class), some, new T.Collections()),
                of("generic_pojo", TypeInformation.of(new TypeHint<T.Box<Tuple2<String, Integer>>>() {}), box,
                        new T.Box<>()),
                of("key_pojo", TypeInformation.of(T.Place.class), new T.Place("x", 1), new T.Place(null, 0)).hashing(),
                of("registered_subclass", TypeInformation.of(T.Base.class), base, registered),
                of("other_subclass", TypeInformation.of(T.Base.class), base, unregistered),
                of("record", TypeInformation.of(T.Point.class), new T.Point("z", 1, null), new T.Point(null, -1, 2L))
                        .hashing());
    }

    @SuppressWarnings("unchecked")
    private static void unions(List<TypeCase<?>> cases) {
        TypeSerializer<Object> unions = (TypeSerializer<Object>) (TypeSerializer<?>)
                new CoGroupedStreams.UnionSerializer<>(IntSerializer.INSTANCE, StringSerializer.INSTANCE);
        StreamElementSerializer<String> elements = new StreamElementSerializer<>(StringSerializer.INSTANCE);
        StreamElement[] some = {new StreamRecord<>("timed", -1L), new StreamRecord<>("bare"), new Watermark(7)};
        Collections.addAll(
                cases,
                of("either", Types.EITHER(Types.STRING, Types.LONG), Either.Left("l"), Either.Right(-1L)),
                of("nested_either", Types.EITHER(Types.EITHER(Types.INT, Types.DOUBLE), pair()),
                        Either.Left(Either.Left(1)), Either.Left(Either.Right(-0d)), Either.Right(Tuple2.of("r", 1))),
                by("co_group_union", unions, tagged("one", 1), tagged("two", "b")),
                by("buffer_entry", new IntervalJoinOperator.BufferEntrySerializer<>(pair().createSerializer(
                                (org.apache.flink.api.common.serialization.SerializerConfig) null)),
                        new IntervalJoinOperator.BufferEntry<>(Tuple2.of("e", 1), true))
                        .shown(entry -> Tuple2.of(entry.hasBeenJoined(), entry.getElement())),
                by("stream_element", elements, some));
    }

    /** The class of what the serializer of co-groups takes is another in Flink 2. */
    private static Object tagged(String side, Object value) {
        try {
            Class<?> union = CoGroupedStreams.UnionSerializer.class
                    .getMethod("createInstance")
                    .getReturnType();
            for (java.lang.reflect.Method method : CoGroupedStreams.UnionSerializer.class.getMethods()) {
                if (method.getName().equals("createInstance") && method.getReturnType() != Object.class) {
                    union = method.getReturnType();
                }
            }
            return union.getMethod(side, Object.class).invoke(null, value);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    private static void kryo(List<TypeCase<?>> cases) {
        BitSet bits = new BitSet();
        bits.set(3);
        bits.set(200);
        Map<String, Object> mixed = new LinkedHashMap<>();
        mixed.put("z", 1L);
        mixed.put("a", "str");
        mixed.put("n", null);
        Collections.addAll(
                cases,
                of("kryo_bit_set", new GenericTypeInfo<>(BitSet.class), bits, new BitSet()),
                of("kryo_uuid", new GenericTypeInfo<>(UUID.class), new UUID(77, -1), new UUID(0, 0)),
                of("kryo_optional", new GenericTypeInfo<>(Optional.class), (Optional) Optional.of("o")),
                of("kryo_list", new GenericTypeInfo<>(ArrayList.class), new ArrayList<>(List.of("s", 3, "t"))),
                of("kryo_map", new GenericTypeInfo<>(LinkedHashMap.class), (LinkedHashMap) mixed),
                of("kryo_tree_map", new GenericTypeInfo<>(TreeMap.class), new TreeMap<>(Map.of("b", 1, "a", 2))),
                of("kryo_class", new GenericTypeInfo<>(T.Opaque.class), new T.Opaque("l", 1)),
                of("kryo_order", new GenericTypeInfo<>(T.Order.class), new T.Order(-1), order(new T.Order(1)),
                        order(new T.BigOrder(Long.MAX_VALUE, CoreCases.UNICODE))));
    }

    private static T.Order order(T.Order order) {
        order.count = -7;
        order.note = CoreCases.LONG;
        order.status = T.Status.PAID;
        order.tags = new ArrayList<>(Arrays.asList("t", null, CoreCases.UNICODE));
        order.weights = new HashMap<>(Map.of("w", -0d));
        order.sizes = new int[] {Integer.MIN_VALUE, 3};
        order.total = new BigDecimal("-12.50");
        order.placed = Instant.ofEpochSecond(-1, 5);
        order.first = new T.Line("first", 1.5);
        order.lines = new ArrayList<>(List.of(new T.Line(null, Double.NaN), new T.Line("second", 2)));
        order.any = 5L;
        return order;
    }
}
