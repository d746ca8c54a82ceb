package org.statelift.harness;

import static org.statelift.harness.TypeCase.by;
import static org.statelift.harness.TypeCase.of;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.ListSerializer;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.api.common.typeutils.base.MapSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ArrayNode;
import org.apache.flink.table.api.dataview.ListView;
import org.apache.flink.table.api.dataview.MapView;
import org.apache.flink.table.data.ArrayData;
import org.apache.flink.table.data.DecimalData;
import org.apache.flink.table.data.GenericArrayData;
import org.apache.flink.table.data.GenericMapData;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.MapData;
import org.apache.flink.table.data.RawValueData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.data.TimestampData;
import org.apache.flink.table.dataview.ListViewSerializer;
import org.apache.flink.table.dataview.MapViewSerializer;
import org.apache.flink.table.dataview.NullAwareMapSerializer;
import org.apache.flink.table.dataview.NullSerializer;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.table.runtime.typeutils.LinkedListSerializer;
import org.apache.flink.table.runtime.typeutils.RawValueDataSerializer;
import org.apache.flink.table.runtime.typeutils.SortedMapSerializer;
import org.apache.flink.table.types.logical.ArrayType;
import org.apache.flink.table.types.logical.BigIntType;
import org.apache.flink.table.types.logical.BinaryType;
import org.apache.flink.table.types.logical.BooleanType;
import org.apache.flink.table.types.logical.CharType;
import org.apache.flink.table.types.logical.DateType;
import org.apache.flink.table.types.logical.DayTimeIntervalType;
import org.apache.flink.table.types.logical.DecimalType;
import org.apache.flink.table.types.logical.DoubleType;
import org.apache.flink.table.types.logical.FloatType;
import org.apache.flink.table.types.logical.IntType;
import org.apache.flink.table.types.logical.LocalZonedTimestampType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.MapType;
import org.apache.flink.table.types.logical.MultisetType;
import org.apache.flink.table.types.logical.RawType;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.table.types.logical.SmallIntType;
import org.apache.flink.table.types.logical.TimeType;
import org.apache.flink.table.types.logical.TimestampType;
import org.apache.flink.table.types.logical.TinyIntType;
import org.apache.flink.table.types.logical.VarBinaryType;
import org.apache.flink.table.types.logical.VarCharType;
import org.apache.flink.table.types.logical.YearMonthIntervalType;
import org.apache.flink.types.RowKind;

/** What SQL keeps: the internal data structures and the serializers of the Table runtime. */
final class TableCases {

    private static final LogicalType STRING = new VarCharType(VarCharType.MAX_LENGTH);

    private static final RowType NESTED = RowType.of(
            new LogicalType[] {new IntType(), STRING}, new String[] {"number", "text"});

    private static final LogicalType[] EVERYTHING = {
        new BooleanType(), new TinyIntType(), new SmallIntType(), new IntType(), new BigIntType(false),
        new FloatType(), new DoubleType(), new CharType(3), STRING, new BinaryType(2), new VarBinaryType(100),
        new DecimalType(10, 2), new DecimalType(38, 6), new DateType(), new TimeType(3), new TimestampType(3),
        new TimestampType(9), new LocalZonedTimestampType(6),
        new YearMonthIntervalType(YearMonthIntervalType.YearMonthResolution.YEAR_TO_MONTH),
        new DayTimeIntervalType(DayTimeIntervalType.DayTimeResolution.DAY_TO_SECOND),
        new ArrayType(new IntType()), new MapType(STRING, new BigIntType()), new MultisetType(STRING), NESTED,
        new RawType<>(Integer.class, IntSerializer.INSTANCE)
    };

    private static final ArrayType ARRAY = new ArrayType(STRING);
    private static final MapType MAP = new MapType(STRING, new ArrayType(new DecimalType(20, 1)));
    private static final MultisetType MULTISET = new MultisetType(NESTED);

    /** The row of SQL's keys. */
    static final RowType KEY = RowType.of(new BigIntType(), STRING, new DecimalType(20, 1));

    private TableCases() {}

    static List<TypeCase<?>> all() {
        List<TypeCase<?>> cases = new ArrayList<>();
        internal(cases);
        runtime(cases);
        return cases;
    }

    private static void internal(List<TypeCase<?>> cases) {
        GenericRowData empty = new GenericRowData(RowKind.DELETE, EVERYTHING.length);
        empty.setField(4, -1L);
        Map<StringData, Object> lists = new HashMap<>();
        lists.put(text("a"), new GenericArrayData(new Object[] {decimal("-1.5", 20, 1), null}));
        lists.put(text("längerer Schlüssel"), null);
        Collections.addAll(
                cases,
                of("row_data", InternalTypeInfo.ofFields(EVERYTHING), everything(), empty)
                        .shown(row -> json(RowType.of(EVERYTHING), row)),
                of("array_data", InternalTypeInfo.<ArrayData>of(ARRAY), new GenericArrayData(new Object[0]),
                                new GenericArrayData(new Object[] {text("short"), null, text(CoreCases.UNICODE)}))
                        .shown(array -> json(ARRAY, array)),
                of("map_data", InternalTypeInfo.<MapData>of(MAP), new GenericMapData(Map.of()), new GenericMapData(lists))
                        .shown(map -> json(MAP, map)),
                of("multiset", InternalTypeInfo.<MapData>of(MULTISET),
                                new GenericMapData(Map.of(GenericRowData.of(7, text("member")), 2)))
                        .shown(map -> json(MULTISET, map)),
                of("string_data", InternalTypeInfo.<StringData>of(STRING), text(""), text(CoreCases.UNICODE))
                        .shown(StringData::toString),
                of("decimal_data", InternalTypeInfo.<DecimalData>of(new DecimalType(18, 4)), decimal("-0.0001", 18, 4))
                        .shown(DecimalData::toBigDecimal),
                of("long_decimal_data", InternalTypeInfo.<DecimalData>of(new DecimalType(38, 0)),
                                decimal("-99999999999999999999999999999999999999", 38, 0), decimal("0", 38, 0))
                        .shown(DecimalData::toBigDecimal),
                of("timestamp_data", InternalTypeInfo.<TimestampData>of(new TimestampType(3)),
                                TimestampData.fromEpochMillis(-1))
                        .shown(stamp -> json(new TimestampType(3), stamp)),
                of("long_timestamp_data", InternalTypeInfo.<TimestampData>of(new LocalZonedTimestampType(9)),
                                TimestampData.fromEpochMillis(-1, 999_999), TimestampData.fromEpochMillis(1))
                        .shown(stamp -> json(new TimestampType(9), stamp)));
    }

    private static RowData everything() {
        return GenericRowData.of(
                true, (byte) -1, (short) -2, -3, Long.MIN_VALUE, -0f, Double.NaN, text("abc"), text(CoreCases.UNICODE),
                new byte[] {0, -1}, new byte[] {1, 2, 3, 4, 5, 6, 7, 8}, decimal("-12.34", 10, 2),
                decimal("12345678901234567890.123456", 38, 6), -1, 86_399_999, TimestampData.fromEpochMillis(-1),
                TimestampData.fromEpochMillis(-1, 999_999), TimestampData.fromEpochMillis(951_782_400_000L, 1000),
                -13, -1L, new GenericArrayData(new Object[] {1, null, 3}), new GenericMapData(map("k", 9L, "n", null)),
                new GenericMapData(map("m", 2)), GenericRowData.of(null, text("nested text")),
                RawValueData.fromObject(5));
    }

    private static Map<StringData, Object> map(Object... pairs) {
        Map<StringData, Object> map = new HashMap<>();
        for (int i = 0; i < pairs.length; i += 2) {
            map.put(text((String) pairs[i]), pairs[i + 1]);
        }
        return map;
    }

    static StringData text(String text) {
        return StringData.fromString(text);
    }

    static DecimalData decimal(String text, int precision, int scale) {
        return DecimalData.fromBigDecimal(new BigDecimal(text), precision, scale);
    }

    @SuppressWarnings("unchecked")
    private static void runtime(List<TypeCase<?>> cases) {
        MapView<String, Long> mapView = new MapView<>();
        mapView.setMap(new HashMap<>(Map.of("a", 1L)));
        ListView<Long> listView = new ListView<>();
        listView.setList(List.of(1L, -1L));
        Map<String, Long> nullAware = new HashMap<>();
        nullAware.put(null, 3L);
        nullAware.put("x", null);
        TypeSerializer<RawValueData<Integer>> raw = new RawValueDataSerializer<>(IntSerializer.INSTANCE);
        Collections.addAll(
                cases,
                by("raw_value", raw, RawValueData.fromObject(-5)).shown(value -> value.toObject(IntSerializer.INSTANCE)),
                by("linked_list", new LinkedListSerializer<>(LongSerializer.INSTANCE), new LinkedList<>(),
                        new LinkedList<>(Arrays.asList(1L, null, 3L))),
                by("sorted_map", new SortedMapSerializer<>(new Ascending(), IntSerializer.INSTANCE, StringSerializer.INSTANCE),
                        new TreeMap<>(Map.of(2, "b", 1, "a"))),
                by("list_view", new ListViewSerializer<>(new ListSerializer<>(LongSerializer.INSTANCE)), listView)
                        .shown(ListView::getList),
                by("map_view", new MapViewSerializer<>(
                                new MapSerializer<>(StringSerializer.INSTANCE, LongSerializer.INSTANCE)), mapView)
                        .shown(MapView::getMap),
                by("null_aware_map", new NullAwareMapSerializer<>(StringSerializer.INSTANCE, LongSerializer.INSTANCE),
                        nullAware).shown(TableCases::pairs),
                by("null", NullSerializer.INSTANCE));
        later(cases, "Variant");
        later(cases, "Bitmap");
    }

    /** A comparator that Flink finds equal to the one of the snapshot. */
    static final class Ascending implements java.util.Comparator<Integer>, java.io.Serializable {
        private static final long serialVersionUID = 1;

        @Override
        public int compare(Integer a, Integer b) {
            return Integer.compare(a, b);
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Ascending;
        }

        @Override
        public int hashCode() {
            return 1;
        }
    }

    /** Null keys: pairs. */
    private static Object pairs(Map<?, ?> map) {
        List<Object> pairs = new ArrayList<>();
        map.forEach((k, v) -> pairs.add(org.apache.flink.api.java.tuple.Tuple2.of(k, v)));
        return pairs;
    }

    /** Types that only newer releases have. */
    @SuppressWarnings("unchecked")
    private static void later(List<TypeCase<?>> cases, String type) {
        try {
            Class<?> serializer = Class.forName(
                    "org.apache.flink.api.common.typeutils.base." + type + "Serializer");
            TypeSerializer<Object> instance = (TypeSerializer<Object>) serializer.getField("INSTANCE").get(null);
            Object value;
            Class<?> data = Class.forName("org.apache.flink.types." + type.toLowerCase() + "." + type);
            if (type.equals("Bitmap")) {
                value = data.getMethod("empty").invoke(null);
                data.getMethod("add", int.class).invoke(value, 70_000);
                cases.add(by("bitmap", instance, value).shown(bitmap -> call(bitmap, "toBytes")));
            } else {
                Object builder = data.getMethod("newBuilder").invoke(null);
                value = Class.forName(data.getName() + "Builder").getMethod("of", int.class).invoke(builder, -70_000);
                cases.add(by("variant", instance, value).shown(variant -> Json.object().set("$variant",
                        Json.array().add(Json.value(call(variant, "getValue"))).add(Json.value(call(variant, "getMetadata"))))));
            }
        } catch (ClassNotFoundException e) {
            return;
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Object call(Object value, String method) {
        try {
            return value.getClass().getMethod(method).invoke(value);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    // ---- the JSON of internal data, which needs their types

    static JsonNode json(LogicalType type, Object value) {
        if (value == null) {
            return Json.value(null);
        }
        switch (type.getTypeRoot()) {
            case ROW:
                return row((RowType) type, (RowData) value);
            case ARRAY:
                return elements(((ArrayType) type).getElementType(), (ArrayData) value);
            case MAP:
                return map(((MapType) type).getKeyType(), ((MapType) type).getValueType(), (MapData) value);
            case MULTISET:
                return map(((MultisetType) type).getElementType(), new IntType(), (MapData) value);
            case CHAR:
            case VARCHAR:
                return Json.value(value.toString());
            case DECIMAL:
                return Json.value(((DecimalData) value).toBigDecimal());
            case TIMESTAMP_WITHOUT_TIME_ZONE:
            case TIMESTAMP_WITH_LOCAL_TIME_ZONE:
                TimestampData stamp = (TimestampData) value;
                return Json.object().set("$timestampdata",
                        Json.array().add(stamp.getMillisecond()).add(stamp.getNanoOfMillisecond()));
            case RAW:
                byte[] bytes = ((RawValueData<?>) value).toBytes(serializer(type));
                return Json.object().put("$raw", HexFormat.of().formatHex(bytes));
            default:
                return Json.value(value);
        }
    }

    @SuppressWarnings("unchecked")
    private static <X> TypeSerializer<X> serializer(LogicalType raw) {
        return ((RawType<X>) raw).getTypeSerializer();
    }

    private static JsonNode row(RowType type, RowData row) {
        ArrayNode fields = Json.array();
        for (int i = 0; i < type.getFieldCount(); i++) {
            fields.add(json(type.getTypeAt(i), RowData.createFieldGetter(type.getTypeAt(i), i).getFieldOrNull(row)));
        }
        return ((org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ObjectNode)
                        Json.object().set("$rowdata", fields))
                .put("kind", row.getRowKind().shortString());
    }

    private static ArrayNode elements(LogicalType type, ArrayData array) {
        ArrayNode elements = Json.array();
        ArrayData.ElementGetter getter = ArrayData.createElementGetter(type);
        for (int i = 0; i < array.size(); i++) {
            elements.add(json(type, getter.getElementOrNull(array, i)));
        }
        return elements;
    }

    private static JsonNode map(LogicalType key, LogicalType value, MapData data) {
        ArrayNode keys = elements(key, data.keyArray());
        ArrayNode values = elements(value, data.valueArray());
        TreeMap<String, ArrayNode> sorted = new TreeMap<>();
        for (int i = 0; i < keys.size(); i++) {
            sorted.put(keys.get(i).toString(), Json.array().add(keys.get(i)).add(values.get(i)));
        }
        return Json.object().set("$map", Json.array().addAll(sorted.values()));
    }
}
