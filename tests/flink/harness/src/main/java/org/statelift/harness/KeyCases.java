package org.statelift.harness;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.sql.Date;
import java.sql.Timestamp;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.BasicTypeInfo;
import org.apache.flink.api.common.typeinfo.SqlTimeTypeInfo;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.api.java.tuple.Tuple3;
import org.apache.flink.formats.avro.typeutils.AvroTypeInfo;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.table.runtime.typeutils.RowDataSerializer;
import org.apache.flink.types.LongValue;
import org.apache.flink.types.Row;
import org.apache.flink.types.StringValue;
import org.example.lab.T;

/** Operators keyed by each type that Flink takes for a key: enums and arrays it refuses. */
final class KeyCases {

    private KeyCases() {}

    static List<TypesFamily.KeyedOperator> all() {
        Timestamp stamp = new Timestamp(-1);
        stamp.setNanos(999_999_999);
        RowDataSerializer rows = new RowDataSerializer(TableCases.KEY);
        return List.of(
                by("string", Types.STRING, "", "a", CoreCases.UNICODE, CoreCases.LONG),
                by("long", Types.LONG, 0L, -1L, Long.MIN_VALUE, 1L << 40),
                by("int", Types.INT, 0, -1, Integer.MIN_VALUE),
                by("short", Types.SHORT, (short) 0, Short.MIN_VALUE),
                by("byte", Types.BYTE, (byte) 0, Byte.MIN_VALUE),
                by("float", Types.FLOAT, 0f, -0f, Float.NaN, 0.1f),
                by("double", Types.DOUBLE, 0d, -0d, Double.NaN, 0.1),
                by("boolean", Types.BOOLEAN, true, false),
                by("char", Types.CHAR, '\u0000', '\uffff'),
                by("big_integer", Types.BIG_INT, BigInteger.ZERO, BigInteger.ONE, BigInteger.TWO.pow(100).negate()),
                by("big_decimal", Types.BIG_DEC, new BigDecimal("1E+10"), new BigDecimal("-12.30"), BigDecimal.ZERO),
                by("date", BasicTypeInfo.DATE_TYPE_INFO, new java.util.Date(-1), new java.util.Date(1L << 40)),
                by("sql_date", SqlTimeTypeInfo.DATE, new Date(86_400_000)),
                by("sql_timestamp", SqlTimeTypeInfo.TIMESTAMP, stamp),
                by("instant", Types.INSTANT, Instant.ofEpochSecond(-1, 999_999_999), Instant.EPOCH),
                by("local_date", Types.LOCAL_DATE, LocalDate.of(1969, 12, 31), LocalDate.of(2024, 2, 29)),
                by("local_time", Types.LOCAL_TIME, LocalTime.MIN, LocalTime.MAX),
                by("local_date_time", Types.LOCAL_DATE_TIME, LocalDateTime.of(1969, 12, 31, 23, 59, 59, 1)),
                by("tuple", Types.TUPLE(Types.STRING, Types.INT), Tuple2.of("a", 1), Tuple2.of(null, -1)),
                by("nested_tuple",
                        Types.TUPLE(Types.LONG, Types.TUPLE(Types.BOOLEAN, Types.STRING), Types.INSTANT),
                        Tuple3.of(-1L, Tuple2.of(true, "x"), Instant.EPOCH)),
                by("row", Types.ROW(Types.STRING, Types.LONG), Row.of("r", 1L), Row.of(null, null)),
                by("named_row", Types.ROW_NAMED(new String[] {"a", "b"}, Types.INT, Types.ROW(Types.STRING)),
                        Row.of(1, Row.of("deep")), Row.of(null, null)),
                by("list", Types.LIST(Types.STRING), List.of(), List.of("a", "b")),
                by("map", Types.MAP(Types.STRING, Types.INT), Map.of(), Map.of("a", 1)),
                by("long_value", TypeInformation.of(LongValue.class), new LongValue(1L << 40)),
                by("string_value", TypeInformation.of(StringValue.class), new StringValue("sv")),
                by("pojo", TypeInformation.of(T.Place.class), new T.Place("Ulm", 1), new T.Place(null, 0)),
                by("record", TypeInformation.of(T.Point.class), new T.Point("z", 1, null)),
                shown("avro", new AvroTypeInfo<>(T.Payment.class), key -> AvroCases.json(T.Payment.SCHEMA$, key),
                        AvroCases.payment("key", null)),
                shown("row_data", InternalTypeInfo.of(TableCases.KEY),
                        key -> TableCases.json(TableCases.KEY, key),
                        rows.toBinaryRow(keyRow(1L, "short", "1.5")).copy(),
                        rows.toBinaryRow(keyRow(-1L, "longer than seven", "-12345678901234567.8")).copy(),
                        rows.toBinaryRow(new GenericRowData(3)).copy()));
    }

    private static RowData keyRow(long number, String text, String decimal) {
        return GenericRowData.of(number, TableCases.text(text), TableCases.decimal(decimal, 20, 1));
    }

    @SafeVarargs
    private static <K> TypesFamily.KeyedOperator by(String name, TypeInformation<K> type, K... keys) {
        return shown(name, type, key -> key, keys);
    }

    @SafeVarargs
    @SuppressWarnings("unchecked")
    static <K> TypesFamily.KeyedOperator shown(
            String name, TypeInformation<K> type, Function<K, Object> shown, K... keys) {
        Map<Integer, Object> counts = new LinkedHashMap<>();
        Map<Integer, Object> maps = new LinkedHashMap<>();
        for (int i = 0; i < keys.length; i++) {
            counts.put(i, i);
            maps.put(i, Map.of("m" + i, i, "", -i));
        }
        List<TypesFamily.Held> states = List.of(
                new TypesFamily.Held(new ValueStateDescriptor<>("count", Types.INT), counts, v -> v),
                new TypesFamily.Held(new MapStateDescriptor<>("map", Types.STRING, Types.INT), maps, v -> v));
        return new TypesFamily.KeyedOperator(
                "by-" + name, type, Arrays.asList(keys), (Function<Object, Object>) (Function<?, ?>) shown, true, states);
    }
}
