package org.statelift.harness;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.Iterator;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.apache.flink.api.java.tuple.Tuple;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ArrayNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.JsonNodeFactory;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.flink.streaming.api.windowing.windows.TimeWindow;

/** Java values as tagged JSON ($tuple, $map, $object, $window, …), and the layout of expected.json. */
final class Json {

    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

    private Json() {}

    static ObjectNode object() {
        return NODES.objectNode();
    }

    static ArrayNode array() {
        return NODES.arrayNode();
    }

    static ObjectNode parse(String line) throws IOException {
        return (ObjectNode) MAPPER.readTree(line);
    }

    static JsonNode value(Object value) {
        if (value == null) {
            return NODES.nullNode();
        } else if (value instanceof JsonNode) {
            return (JsonNode) value;
        } else if (value instanceof String) {
            return NODES.textNode((String) value);
        } else if (value instanceof Boolean) {
            return NODES.booleanNode((Boolean) value);
        } else if (value instanceof Long) {
            return NODES.numberNode((Long) value);
        } else if (value instanceof Integer) {
            return NODES.numberNode((Integer) value);
        } else if (value instanceof Short || value instanceof Byte) {
            return NODES.numberNode(((Number) value).intValue());
        } else if (value instanceof Double || value instanceof Float) {
            double d = ((Number) value).doubleValue();
            return Double.isFinite(d) ? NODES.numberNode(d) : object().put("$double", Double.toString(d));
        } else if (value instanceof Character) {
            return object().put("$char", (int) (Character) value);
        } else if (value instanceof byte[]) {
            return object().put("$bytes", HexFormat.of().formatHex((byte[]) value));
        } else if (value instanceof Tuple) {
            Tuple tuple = (Tuple) value;
            ArrayNode fields = NODES.arrayNode();
            for (int i = 0; i < tuple.getArity(); i++) {
                fields.add(value((Object) tuple.getField(i)));
            }
            return object().set("$tuple", fields);
        } else if (value instanceof TimeWindow) {
            TimeWindow window = (TimeWindow) value;
            return object().set("$window", NODES.arrayNode().add(window.getStart()).add(window.getEnd()));
        } else if (value instanceof Map) {
            return object().set("$map", entries((Map<?, ?>) value));
        } else if (value instanceof Set) {
            TreeMap<String, JsonNode> sorted = new TreeMap<>();
            ((Set<?>) value).forEach(one -> sorted.put(value(one).toString(), value(one)));
            return object().set("$set", NODES.arrayNode().addAll(sorted.values()));
        } else if (value instanceof Iterable) {
            ArrayNode elements = NODES.arrayNode();
            ((Iterable<?>) value).forEach(element -> elements.add(value(element)));
            return elements;
        }
        JsonNode known = value.getClass().isArray() ? elements(value) : JsonOfTypes.value(value);
        return known != null ? known : pojo(value);
    }

    private static ArrayNode elements(Object array) {
        ArrayNode elements = NODES.arrayNode();
        for (int i = 0; i < Array.getLength(array); i++) {
            elements.add(value(Array.get(array, i)));
        }
        return elements;
    }

    private static ArrayNode entries(Map<?, ?> map) {
        TreeMap<String, ArrayNode> sorted = new TreeMap<>();
        map.forEach((k, v) -> sorted.put(value(k).toString(), NODES.arrayNode().add(value(k)).add(value(v))));
        return NODES.arrayNode().addAll(sorted.values());
    }

    private static ObjectNode pojo(Object value) {
        ObjectNode fields = object();
        Arrays.stream(value.getClass().getFields())
                .filter(field -> !Modifier.isStatic(field.getModifiers()))
                .sorted(Comparator.comparing(Field::getName))
                .forEach(field -> fields.set(field.getName(), value(get(field, value))));
        if (fields.isEmpty()) {
            throw new IllegalArgumentException("no JSON form for " + value.getClass().getName());
        }
        return object().put("$object", value.getClass().getName()).set("fields", fields);
    }

    private static Object get(Field field, Object value) {
        try {
            return field.get(value);
        } catch (IllegalAccessException e) {
            throw new IllegalArgumentException(e);
        }
    }

    /** Writes contents with one entry a line, as diffs like it. */
    static void write(ObjectNode contents, Path path) {
        StringBuilder out = new StringBuilder();
        append(contents, "", out);
        try {
            Files.writeString(path, out.append('\n').toString(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void append(ObjectNode node, String indent, StringBuilder out) {
        out.append('{');
        String comma = "";
        for (Iterator<String> names = node.fieldNames(); names.hasNext(); comma = ",") {
            String name = names.next();
            JsonNode field = node.get(name);
            out.append(comma).append('\n').append(indent).append(NODES.textNode(name)).append(": ");
            if (name.equals("entries")) {
                out.append('[');
                String separator = "";
                for (JsonNode entry : field) {
                    out.append(separator).append('\n').append(indent).append(entry);
                    separator = ",";
                }
                out.append(']');
            } else if (field.isObject()) {
                append((ObjectNode) field, indent + " ", out);
            } else {
                out.append(field);
            }
        }
        out.append('}');
    }
}
