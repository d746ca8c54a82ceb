package org.statelift.harness;

import static org.statelift.harness.TypeCase.by;
import static org.statelift.harness.TypeCase.of;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.sql.Date;
import java.sql.Time;
import java.sql.Timestamp;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.apache.flink.api.common.typeinfo.BasicArrayTypeInfo;
import org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo;
import org.apache.flink.api.common.typeinfo.SqlTimeTypeInfo;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.common.typeutils.base.NullValueSerializer;
import org.apache.flink.streaming.api.windowing.windows.GlobalWindow;
import org.apache.flink.streaming.api.windowing.windows.TimeWindow;
import org.apache.flink.types.BooleanValue;
import org.apache.flink.types.ByteValue;
import org.apache.flink.types.CharValue;
import org.apache.flink.types.DoubleValue;
import org.apache.flink.types.FloatValue;
import org.apache.flink.types.IntValue;
import org.apache.flink.types.LongValue;
import org.apache.flink.types.NullValue;
import org.apache.flink.types.ShortValue;
import org.apache.flink.types.StringValue;

/** Types without parts: numbers, texts, times, Flink's mutable values, arrays of primitives, windows. */
final class CoreCases {

    static final String UNICODE = "äöü € \u0000 \u07ff\uffff 😀 \ud83c\uddea\ud83c\uddfa";
    static final String LONG = ("0123456789 ünï " + "😀").repeat(4500);

    private CoreCases() {}

    static List<TypeCase<?>> all() {
        List<TypeCase<?>> cases = new ArrayList<>();
        numbers(cases);
        times(cases);
        values(cases);
        arrays(cases);
        return cases;
    }

    private static void numbers(List<TypeCase<?>> cases) {
        Collections.addAll(
                cases,
                of("boolean", Types.BOOLEAN, true, false).hashing(),
                of("byte", Types.BYTE, (byte) 0, (byte) 1, Byte.MIN_VALUE, Byte.MAX_VALUE).hashing(),
                of("short", Types.SHORT, (short) 0, (short) -1, Short.MIN_VALUE, Short.MAX_VALUE).hashing(),
                of("int", Types.INT, 0, -1, Integer.MIN_VALUE, Integer.MAX_VALUE).hashing(),
                of("long", Types.LONG, 0L, -1L, Long.MIN_VALUE, Long.MAX_VALUE, 1L << 53 | 1).hashing(),
                of("float", Types.FLOAT, 0f, -0f, 0.1f, Float.NaN, Float.MIN_VALUE, -Float.MAX_VALUE,
                        Float.NEGATIVE_INFINITY).hashing(),
                of("double", Types.DOUBLE, 0d, -0d, 0.1, Double.NaN, Double.MIN_VALUE, -Double.MAX_VALUE,
                        Double.POSITIVE_INFINITY).hashing(),
                of("char", Types.CHAR, 'a', '\u0000', '€', '\uffff', '\ud83d').hashing(),
                of("string", Types.STRING, "", "a", ",", UNICODE, LONG, "x".repeat(126), "x".repeat(127)).hashing(),
                of("big_integer", Types.BIG_INT, BigInteger.ZERO, BigInteger.ONE, BigInteger.TEN,
                        BigInteger.valueOf(-1), BigInteger.valueOf(127), BigInteger.valueOf(128),
                        BigInteger.TWO.pow(300).negate()).hashing(),
                of("big_decimal", Types.BIG_DEC, BigDecimal.ZERO, new BigDecimal("1E+10"), new BigDecimal("-12.345"),
                        new BigDecimal("0E-7"), new BigDecimal(BigInteger.TWO.pow(200), 50),
                        new BigDecimal("10")).hashing());
    }

    private static void times(List<TypeCase<?>> cases) {
        Timestamp stamp = new Timestamp(-1);
        stamp.setNanos(999_999_999);
        Timestamp leap = new Timestamp(951_782_400_000L);
        leap.setNanos(7);
        Collections.addAll(
                cases,
                of("date", org.apache.flink.api.common.typeinfo.BasicTypeInfo.DATE_TYPE_INFO, new java.util.Date(0), new java.util.Date(-1),
                        new java.util.Date(253_402_300_799_999L)).hashing(),
                of("sql_date", SqlTimeTypeInfo.DATE, new Date(0), new Date(-86_400_000)).hashing(),
                of("sql_time", SqlTimeTypeInfo.TIME, new Time(0), new Time(86_399_999)).hashing(),
                of("sql_timestamp", SqlTimeTypeInfo.TIMESTAMP, new Timestamp(0), stamp, leap).hashing(),
                of("instant", Types.INSTANT, Instant.EPOCH, Instant.ofEpochSecond(-1, 999_999_999),
                        Instant.parse("2024-02-29T12:00:00.000000001Z"),
                        Instant.parse("1677-09-21T00:12:44Z"),
                        Instant.parse("2262-04-11T23:47:15.999999999Z")).hashing(),
                of("local_date", Types.LOCAL_DATE, LocalDate.EPOCH, LocalDate.of(1969, 12, 31),
                        LocalDate.of(2000, 2, 29), LocalDate.of(1, 1, 1), LocalDate.of(9999, 12, 31)).hashing(),
                of("local_time", Types.LOCAL_TIME, LocalTime.MIN, LocalTime.MAX, LocalTime.of(1, 2, 3, 4)).hashing(),
                of("local_date_time", Types.LOCAL_DATE_TIME, LocalDateTime.of(1969, 12, 31, 23, 59, 59, 999_999_999),
                        LocalDateTime.of(2000, 2, 29, 0, 0), LocalDateTime.of(2262, 4, 10, 0, 0)).hashing());
    }

    private static void values(List<TypeCase<?>> cases) {
        Collections.addAll(
                cases,
                of("boolean_value", TypeInformation.of(BooleanValue.class), BooleanValue.TRUE),
                of("byte_value", TypeInformation.of(ByteValue.class), new ByteValue((byte) -7)),
                of("short_value", TypeInformation.of(ShortValue.class), new ShortValue((short) -7)),
                of("int_value", TypeInformation.of(IntValue.class), new IntValue(-7)).hashing(),
                of("long_value", TypeInformation.of(LongValue.class), new LongValue(Long.MIN_VALUE)),
                of("float_value", TypeInformation.of(FloatValue.class), new FloatValue(0.1f)),
                of("double_value", TypeInformation.of(DoubleValue.class), new DoubleValue(0.1)),
                of("char_value", TypeInformation.of(CharValue.class), new CharValue('ß')),
                of("string_value", TypeInformation.of(StringValue.class), new StringValue(""),
                        new StringValue(UNICODE), new StringValue(LONG)).hashing(),
                by("null_value", NullValueSerializer.INSTANCE, NullValue.getInstance()),
                by("time_window", new TimeWindow.Serializer(), new TimeWindow(Long.MIN_VALUE, Long.MAX_VALUE),
                        new TimeWindow(-1, 0)).hashing(),
                by("global_window", new GlobalWindow.Serializer(), GlobalWindow.get()).shown(window -> null));
    }

    private static void arrays(List<TypeCase<?>> cases) {
        Collections.addAll(
                cases,
                of("booleans", PrimitiveArrayTypeInfo.BOOLEAN_PRIMITIVE_ARRAY_TYPE_INFO, new boolean[0],
                        new boolean[] {true, false}),
                of("bytes", PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO, new byte[0],
                        new byte[] {0, -1, ','}, new byte[70_000]),
                of("chars", PrimitiveArrayTypeInfo.CHAR_PRIMITIVE_ARRAY_TYPE_INFO, new char[0],
                        new char[] {'a', '\uffff'}),
                of("shorts", PrimitiveArrayTypeInfo.SHORT_PRIMITIVE_ARRAY_TYPE_INFO, new short[0],
                        new short[] {-1, 2}),
                of("ints", PrimitiveArrayTypeInfo.INT_PRIMITIVE_ARRAY_TYPE_INFO, new int[0], new int[] {-1, 2}),
                of("longs", PrimitiveArrayTypeInfo.LONG_PRIMITIVE_ARRAY_TYPE_INFO, new long[0],
                        new long[] {Long.MIN_VALUE, 2}),
                of("floats", PrimitiveArrayTypeInfo.FLOAT_PRIMITIVE_ARRAY_TYPE_INFO, new float[0],
                        new float[] {-0f, Float.NaN}),
                of("doubles", PrimitiveArrayTypeInfo.DOUBLE_PRIMITIVE_ARRAY_TYPE_INFO, new double[0],
                        new double[] {-0d, Double.NaN}),
                of("strings", BasicArrayTypeInfo.STRING_ARRAY_TYPE_INFO, new String[0],
                        new String[] {"a", null, "", UNICODE}),
                of("integers", BasicArrayTypeInfo.INT_ARRAY_TYPE_INFO, new Integer[0], new Integer[] {1, null, -1}));
    }
}
