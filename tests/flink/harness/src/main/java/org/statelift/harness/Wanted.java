package org.statelift.harness;

import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.ListSerializer;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.api.common.typeutils.base.MapSerializer;
import org.apache.flink.runtime.state.ttl.TtlStateFactory.TtlSerializer;
import org.apache.flink.streaming.api.operators.TimerSerializer;

/** The serializers that an operator of a restored job comes with: those that the snapshot's are to suit. */
final class Wanted {

    /** The name under which the key's serializer stands among those of the states. */
    static final String KEY = "(key)";

    final String uid;
    final Map<String, TypeSerializer<?>> values = new LinkedHashMap<>();
    final Map<String, TypeSerializer<?>> namespaces = new LinkedHashMap<>();

    Wanted(String uid, TypeSerializer<?> key) {
        this.uid = uid;
        values.put(KEY, key);
    }

    /** A state whose descriptor has its serializer already. */
    Wanted state(StateDescriptor<?, ?> descriptor, TypeSerializer<?> namespace) {
        values.put(descriptor.getName(), serializer(descriptor));
        namespaces.put(descriptor.getName(), namespace);
        return this;
    }

    /** An operator state: its elements, or the values of a broadcast map. */
    void element(String state, TypeSerializer<?> serializer) {
        values.put(state, serializer);
    }

    Wanted timers(String service, TypeSerializer<?> namespace) {
        for (String domain : new String[] {"event", "processing"}) {
            values.put(
                    "_timer_state/" + domain + "_" + service,
                    new TimerSerializer<>(values.get(KEY), namespace));
        }
        return this;
    }

    /** As the factory of states with a time to live wraps it. */
    private static TypeSerializer<?> serializer(StateDescriptor<?, ?> descriptor) {
        if (!descriptor.getTtlConfig().isEnabled()) {
            return descriptor.getSerializer();
        } else if (descriptor instanceof ListStateDescriptor) {
            return new ListSerializer<>(ttl(((ListStateDescriptor<?>) descriptor).getElementSerializer()));
        } else if (descriptor instanceof MapStateDescriptor) {
            MapStateDescriptor<?, ?> map = (MapStateDescriptor<?, ?>) descriptor;
            return new MapSerializer<>(map.getKeySerializer(), ttl(map.getValueSerializer()));
        }
        return ttl(descriptor.getSerializer());
    }

    private static TypeSerializer<?> ttl(TypeSerializer<?> serializer) {
        return new TtlSerializer<>(LongSerializer.INSTANCE, serializer);
    }
}
