package org.statelift.harness;

import static org.statelift.harness.TypeCase.by;
import static org.statelift.harness.TypeCase.of;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.time.LocalDate;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.apache.avro.LogicalType;
import org.apache.avro.LogicalTypes;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.reflect.ReflectData;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.formats.avro.typeutils.AvroSerializer;
import org.apache.flink.formats.avro.typeutils.AvroTypeInfo;
import org.apache.flink.formats.avro.typeutils.GenericRecordAvroTypeInfo;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ArrayNode;
import org.example.lab.T;

/** Avro's records: specific, generic and by reflection. A record is shown as a tuple, a branch of a union by its name. */
final class AvroCases {

    private static final Schema EVERYTHING = new Schema.Parser().parse("""
            {"type": "record", "name": "Everything", "namespace": "org.example.lab", "fields": [
              {"name": "flag", "type": "boolean"},
              {"name": "i", "type": "int"},
              {"name": "l", "type": "long"},
              {"name": "f", "type": "float"},
              {"name": "d", "type": "double"},
              {"name": "s", "type": "string"},
              {"name": "b", "type": "bytes"},
              {"name": "nothing", "type": "null"},
              {"name": "maybe", "type": ["null", "string"]},
              {"name": "perhaps", "type": ["long", "null"]},
              {"name": "any", "type": ["null", "int", "string", {"type": "array", "items": "int"},
                {"type": "record", "name": "Inner", "fields": [{"name": "x", "type": "long"}]}, "Inner2"]},
              {"name": "suit", "type": {"type": "enum", "name": "Suit", "symbols": ["SPADES", "HEARTS"]}},
              {"name": "hash", "type": {"type": "fixed", "name": "Hash", "size": 4}},
              {"name": "list", "type": {"type": "array", "items": ["null", "string"]}},
              {"name": "map", "type": {"type": "map", "values": {"type": "array", "items": "Suit"}}},
              {"name": "day", "type": {"type": "int", "logicalType": "date"}},
              {"name": "clock", "type": {"type": "int", "logicalType": "time-millis"}},
              {"name": "micros", "type": {"type": "long", "logicalType": "time-micros"}},
              {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
              {"name": "precisely", "type": {"type": "long", "logicalType": "timestamp-micros"}},
              {"name": "here", "type": {"type": "long", "logicalType": "local-timestamp-millis"}},
              {"name": "price", "type": {"type": "bytes", "logicalType": "decimal", "precision": 20, "scale": 3}},
              {"name": "exact", "type": {"type": "fixed", "name": "Exact", "size": 6, "logicalType": "decimal",
                "precision": 12, "scale": 2}},
              {"name": "id", "type": {"type": "string", "logicalType": "uuid"}}]}"""
            .replace("\"Inner2\"", "{\"type\": \"record\", \"name\": \"Other\", \"fields\": []}"));

    private static final Schema TREE = new Schema.Parser().parse("""
            {"type": "record", "name": "Tree", "namespace": "org.example.lab", "fields": [
              {"name": "name", "type": "string"},
              {"name": "next", "type": ["null", "Tree"]},
              {"name": "below", "type": {"type": "array", "items": "Tree"}},
              {"name": "named", "type": {"type": "map", "values": ["int", "Tree"]}}]}""");

    private AvroCases() {}

    static List<TypeCase<?>> all() {
        Schema reflected = ReflectData.get().getSchema(T.Reflected.class);
        return List.of(
                of("avro_specific", new AvroTypeInfo<>(T.Payment.class), payment("a", null), payment(CoreCases.LONG, "n"))
                        .shown(record -> json(T.Payment.SCHEMA$, record)),
                of("avro_tree", new GenericRecordAvroTypeInfo(TREE), tree("leaf"), forest()).shown(AvroCases::json),
                of("avro_generic", new GenericRecordAvroTypeInfo(EVERYTHING), everything(0), everything(1),
                                everything(2), everything(3), everything(4))
                        .shown(record -> json(EVERYTHING, record)),
                by("avro_reflect", new AvroSerializer<>(T.Reflected.class), reflected("r"), reflected(""))
                        .shown(record -> json(reflected, record)));
    }

    static T.Payment payment(String id, String note) {
        T.Payment payment = new T.Payment();
        payment.put(0, id);
        payment.put(1, (long) id.length());
        payment.put(2, note);
        payment.put(3, Instant.ofEpochMilli(-1));
        payment.put(4, LocalDate.of(1960, 2, 29));
        payment.put(5, id.length() == 1 ? List.of(-0d, Double.NaN) : List.of());
        return payment;
    }

    /** Each has another branch of each union. */
    private static GenericRecord everything(int i) {
        GenericRecord record = new GenericData.Record(EVERYTHING);
        record.put("flag", i % 2 == 0);
        record.put("i", Integer.MIN_VALUE + i);
        record.put("l", Long.MAX_VALUE - i);
        record.put("f", i == 0 ? Float.NaN : -0f);
        record.put("d", i == 0 ? Double.NEGATIVE_INFINITY : 0.1);
        record.put("s", i == 0 ? "" : CoreCases.UNICODE);
        record.put("b", ByteBuffer.wrap(new byte[] {0, -1, (byte) i}));
        record.put("maybe", i == 0 ? null : "m" + i);
        record.put("perhaps", i == 0 ? null : (Object) (long) i);
        GenericRecord inner = new GenericData.Record(EVERYTHING.getField("any").schema().getTypes().get(4));
        inner.put("x", -5L);
        GenericRecord other = new GenericData.Record(EVERYTHING.getField("any").schema().getTypes().get(5));
        record.put("any", new Object[] {null, 7, "text", List.of(1, 2), i == 4 ? other : inner}[i]);
        record.put("suit", new GenericData.EnumSymbol(EVERYTHING.getField("suit").schema(), i % 2 == 0 ? "HEARTS" : "SPADES"));
        record.put("hash", new GenericData.Fixed(EVERYTHING.getField("hash").schema(), new byte[] {1, 2, 3, (byte) i}));
        record.put("list", i == 0 ? List.of() : java.util.Arrays.asList("x", null));
        Map<String, Object> map = new HashMap<>();
        if (i > 0) {
            map.put("k", List.of(record.get("suit")));
            map.put("", List.of());
        }
        record.put("map", map);
        record.put("day", -1);
        record.put("clock", 86_399_999);
        record.put("micros", 86_399_999_999L);
        record.put("at", -1L);
        record.put("precisely", 951_782_400_000_001L);
        record.put("here", 951_782_400_000L);
        record.put("price", ByteBuffer.wrap(BigInteger.valueOf(-12345 * i).toByteArray()));
        record.put("exact", new GenericData.Fixed(
                EVERYTHING.getField("exact").schema(), new byte[] {-1, -1, -1, -1, -1, (byte) (i - 100)}));
        record.put("id", "00000000-0000-0000-0000-000000000001");
        return record;
    }

    private static GenericRecord tree(String name, GenericRecord... below) {
        GenericRecord tree = new GenericData.Record(TREE);
        tree.put("name", name);
        tree.put("below", List.of(below));
        tree.put("named", Map.of());
        return tree;
    }

    private static GenericRecord forest() {
        GenericRecord chain = tree("end");
        for (int i = 0; i < 300; i++) {
            GenericRecord link = tree(CoreCases.UNICODE);
            link.put("next", chain);
            chain = link;
        }
        GenericRecord forest = tree("forest", tree("a", tree("b", tree("c"), tree("d")), tree("e")), tree("f"));
        forest.put("next", chain);
        forest.put("named", Map.of("number", 7, "tree", tree("g", tree("h"))));
        return forest;
    }

    /** What is below a tree is shown as its bytes. */
    private static JsonNode json(GenericRecord tree) {
        Map<String, JsonNode> named = new HashMap<>();
        ((Map<?, ?>) tree.get("named")).forEach((k, v) -> named.put(
                k.toString(),
                v instanceof GenericRecord
                        ? Json.object().set("$Tree", written(v))
                        : Json.object().set("$int", Json.value(v))));
        ArrayNode below = Json.array();
        ((Iterable<?>) tree.get("below")).forEach(one -> below.add(written(one)));
        return Json.object().set("$tuple", Json.array()
                .add(tree.get("name").toString()).add(written(tree.get("next"))).add(below).add(Json.value(named)));
    }

    private static JsonNode written(Object tree) {
        if (tree == null) {
            return Json.value(null);
        }
        DataOutputSerializer out = new DataOutputSerializer(64);
        try {
            new AvroSerializer<>(GenericRecord.class, TREE).serialize((GenericRecord) tree, out);
        } catch (java.io.IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
        return Json.value(out.getCopyOfBuffer());
    }

    private static T.Reflected reflected(String id) {
        T.Reflected value = new T.Reflected();
        value.id = id;
        value.amount = -1;
        value.lines = id.isEmpty() ? List.of() : List.of("l1", "");
        value.stock = Map.of("s", 1);
        value.color = T.Color.BLUE;
        value.weights = List.of(0.5, -0d);
        value.inner = new T.Reflected.Inner();
        return value;
    }

    /** A datum of the schema, whatever Java class it has. */
    static JsonNode json(Schema schema, Object datum) {
        ArrayNode parts = Json.array();
        switch (schema.getType()) {
            case RECORD:
                for (Schema.Field field : schema.getFields()) {
                    parts.add(json(field.schema(), ReflectData.get().getField(datum, field.name(), field.pos())));
                }
                return Json.object().set("$tuple", parts);
            case UNION:
                return union(schema, datum);
            case ENUM:
                return Json.object().put("$enum", datum instanceof Enum ? ((Enum<?>) datum).name() : datum.toString());
            case ARRAY:
                ((Iterable<?>) datum).forEach(one -> parts.add(json(schema.getElementType(), one)));
                return parts;
            case MAP:
                Map<String, JsonNode> map = new HashMap<>();
                ((Map<?, ?>) datum).forEach((k, v) -> map.put(k.toString(), json(schema.getValueType(), v)));
                return Json.value(map);
            case FIXED:
                return bytes(schema.getLogicalType(), ((GenericData.Fixed) datum).bytes());
            case BYTES:
                return bytes(schema.getLogicalType(), ((ByteBuffer) datum).array());
            case STRING:
                return Json.value(datum.toString());
            case INT:
                return Json.value(datum instanceof LocalDate ? (int) ((LocalDate) datum).toEpochDay() : datum);
            case LONG:
                return Json.value(datum instanceof Instant ? ((Instant) datum).toEpochMilli() : datum);
            default:
                return Json.value(datum);
        }
    }

    /** Of two branches, one of them null, the value itself. */
    private static JsonNode union(Schema schema, Object datum) {
        Schema branch = schema.getTypes().get(ReflectData.get().resolveUnion(schema, datum));
        boolean plain = schema.getTypes().size() == 2 && schema.isNullable();
        JsonNode value = json(branch, datum);
        String name = branch.getType() == Schema.Type.RECORD ? branch.getName() : branch.getType().getName();
        return plain ? value : Json.object().set("$" + name, value);
    }

    private static JsonNode bytes(LogicalType logical, byte[] bytes) {
        if (logical instanceof LogicalTypes.Decimal) {
            int scale = ((LogicalTypes.Decimal) logical).getScale();
            return Json.value(new BigDecimal(new BigInteger(bytes), scale));
        }
        return Json.object().put("$bytes", HexFormat.of().formatHex(bytes));
    }
}
