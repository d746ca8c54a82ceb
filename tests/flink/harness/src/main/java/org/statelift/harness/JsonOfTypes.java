package org.statelift.harness;

import java.lang.reflect.RecordComponent;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.sql.Time;
import java.sql.Timestamp;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.util.BitSet;
import java.util.Date;
import java.util.Optional;
import java.util.UUID;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ArrayNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.types.BooleanValue;
import org.apache.flink.types.ByteValue;
import org.apache.flink.types.CharValue;
import org.apache.flink.types.DoubleValue;
import org.apache.flink.types.Either;
import org.apache.flink.types.FloatValue;
import org.apache.flink.types.IntValue;
import org.apache.flink.types.LongValue;
import org.apache.flink.types.NullValue;
import org.apache.flink.types.Row;
import org.apache.flink.types.ShortValue;
import org.apache.flink.types.StringValue;

/** The tagged JSON of the JDK's and Flink's classes that are no tuples and no collections. */
final class JsonOfTypes {

    private JsonOfTypes() {}

    /** Null for a class that is none of those. */
    static JsonNode value(Object value) {
        JsonNode found = value instanceof Date ? date((Date) value) : number(value);
        found = found != null ? found : time(value);
        return found != null ? found : composite(value);
    }

    private static JsonNode number(Object value) {
        if (value instanceof BigInteger) {
            return Json.object().put("$bigint", value.toString());
        } else if (value instanceof BigDecimal) {
            BigDecimal decimal = (BigDecimal) value;
            return tagged("$decimal", Json.array().add(decimal.unscaledValue().toString()).add(decimal.scale()));
        } else if (value instanceof BooleanValue) {
            return Json.value(((BooleanValue) value).getValue());
        } else if (value instanceof ByteValue) {
            return Json.value(((ByteValue) value).getValue());
        } else if (value instanceof ShortValue) {
            return Json.value(((ShortValue) value).getValue());
        } else if (value instanceof IntValue) {
            return Json.value(((IntValue) value).getValue());
        } else if (value instanceof LongValue) {
            return Json.value(((LongValue) value).getValue());
        } else if (value instanceof FloatValue) {
            return Json.value(((FloatValue) value).getValue());
        } else if (value instanceof DoubleValue) {
            return Json.value(((DoubleValue) value).getValue());
        } else if (value instanceof CharValue) {
            return Json.value(((CharValue) value).getValue());
        } else if (value instanceof StringValue) {
            return Json.value(((StringValue) value).getValue());
        }
        return value instanceof NullValue ? Json.value(null) : null;
    }

    private static JsonNode date(Date value) {
        if (value instanceof Timestamp) {
            return tagged("$sqltimestamp", Json.array().add(value.getTime()).add(((Timestamp) value).getNanos()));
        }
        String tag = value instanceof java.sql.Date ? "$sqldate" : value instanceof Time ? "$sqltime" : "$date";
        return Json.object().put(tag, value.getTime());
    }

    private static JsonNode time(Object value) {
        if (value instanceof Instant) {
            Instant instant = (Instant) value;
            return tagged("$instant", Json.array().add(instant.getEpochSecond()).add(instant.getNano()));
        } else if (value instanceof LocalDate) {
            return tagged("$localdate", add(Json.array(), (LocalDate) value));
        } else if (value instanceof LocalTime) {
            return tagged("$localtime", add(Json.array(), (LocalTime) value));
        } else if (value instanceof LocalDateTime) {
            LocalDateTime time = (LocalDateTime) value;
            return tagged("$localdatetime", add(add(Json.array(), time.toLocalDate()), time.toLocalTime()));
        }
        return null;
    }

    private static ArrayNode add(ArrayNode parts, LocalDate date) {
        return parts.add(date.getYear()).add(date.getMonthValue()).add(date.getDayOfMonth());
    }

    private static ArrayNode add(ArrayNode parts, LocalTime time) {
        return parts.add(time.getHour()).add(time.getMinute()).add(time.getSecond()).add(time.getNano());
    }

    private static JsonNode composite(Object value) {
        if (value instanceof Enum) {
            return Json.object().put("$enum", ((Enum<?>) value).name());
        } else if (value instanceof Row) {
            return row((Row) value);
        } else if (value instanceof Either) {
            Either<?, ?> either = (Either<?, ?>) value;
            return either.isLeft() ? tagged("$left", either.left()) : tagged("$right", either.right());
        } else if (value instanceof StreamRecord) {
            StreamRecord<?> record = (StreamRecord<?>) value;
            JsonNode inner = Json.value(record.getValue());
            return record.hasTimestamp()
                    ? tagged("$streamrecord", Json.array().add(record.getTimestamp()).add(inner))
                    : tagged("$record", tagged("$tuple", Json.array().add(inner)));
        } else if (value instanceof Watermark) {
            return Json.object().put("$watermark", ((Watermark) value).getTimestamp());
        } else if (value instanceof BitSet) {
            return tagged("$bitset", ((BitSet) value).stream().toArray());
        } else if (value instanceof UUID) {
            return Json.object().put("$uuid", value.toString());
        } else if (value instanceof Optional) {
            return tagged("$optional", ((Optional<?>) value).orElse(null));
        } else if (value instanceof Shown) {
            return ((Shown) value).json();
        } else if (value.getClass().getSimpleName().equals("TaggedUnion")) {
            boolean one = Boolean.TRUE.equals(call(value, "isOne"));
            return tagged(one ? "$one" : "$two", call(value, one ? "getOne" : "getTwo"));
        }
        return value instanceof Record ? record(value) : null;
    }

    private static JsonNode row(Row row) {
        ArrayNode fields = Json.array();
        for (int i = 0; i < row.getArity(); i++) {
            fields.add(Json.value(row.getField(i)));
        }
        return tagged("$row", fields).put("kind", row.getKind().shortString());
    }

    private static JsonNode record(Object value) {
        ObjectNode fields = Json.object();
        for (RecordComponent part : value.getClass().getRecordComponents()) {
            fields.set(part.getName(), Json.value(call(value, part.getName())));
        }
        return Json.object().put("$object", value.getClass().getName()).set("fields", fields);
    }

    private static Object call(Object value, String method) {
        try {
            return value.getClass().getMethod(method).invoke(value);
        } catch (ReflectiveOperationException e) {
            throw new IllegalArgumentException(e);
        }
    }

    private static ObjectNode tagged(String tag, Object value) {
        return (ObjectNode) Json.object().set(tag, Json.value(value));
    }
}
