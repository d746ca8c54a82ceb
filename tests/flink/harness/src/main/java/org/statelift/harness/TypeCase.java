package org.statelift.harness;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;

/**
 * A type of state and values of it, by its type information or else by its serializer. `shown` makes of a value what
 * its JSON is made of. `hashes`: values can be keys of maps.
 */
record TypeCase<T>(
        String name,
        TypeInformation<T> info,
        TypeSerializer<T> serializer,
        Function<? super T, ?> shown,
        boolean hashes,
        List<T> values) {

    @SafeVarargs
    static <T> TypeCase<T> of(String name, TypeInformation<T> info, T... values) {
        return new TypeCase<>(name, info, null, value -> value, false, new ArrayList<>(Arrays.asList(values)));
    }

    @SafeVarargs
    static <T> TypeCase<T> by(String name, TypeSerializer<T> serializer, T... values) {
        return new TypeCase<>(name, null, serializer, value -> value, false, new ArrayList<>(Arrays.asList(values)));
    }

    TypeCase<T> shown(Function<? super T, ?> shown) {
        return new TypeCase<>(name, info, serializer, shown, hashes, values);
    }

    TypeCase<T> hashing() {
        return new TypeCase<>(name, info, serializer, shown, true, values);
    }

    ValueStateDescriptor<T> value(String state) {
        return info != null ? new ValueStateDescriptor<>(state, info) : new ValueStateDescriptor<>(state, serializer);
    }

    ListStateDescriptor<T> list(String state) {
        return info != null ? new ListStateDescriptor<>(state, info) : new ListStateDescriptor<>(state, serializer);
    }

    MapStateDescriptor<String, T> map(String state) {
        return info != null
                ? new MapStateDescriptor<>(state, Types.STRING, info)
                : new MapStateDescriptor<>(state, StringSerializer.INSTANCE, serializer);
    }

    MapStateDescriptor<T, Integer> mapBy(String state) {
        return info != null
                ? new MapStateDescriptor<>(state, info, Types.INT)
                : new MapStateDescriptor<>(state, serializer, IntSerializer.INSTANCE);
    }

    /** What the JSON of a value is made of. */
    @SuppressWarnings("unchecked")
    Object show(Object value) {
        return value == null ? null : shown.apply((T) value);
    }
}
