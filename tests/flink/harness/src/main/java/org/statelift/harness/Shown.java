package org.statelift.harness;

import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;

/** A value with the JSON of its own, for those that do not tell what they are. It hashes as the value. */
record Shown(Object value, JsonNode json) {
    @Override
    public int hashCode() {
        return value.hashCode();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Shown && ((Shown) other).value.equals(value);
    }
}
