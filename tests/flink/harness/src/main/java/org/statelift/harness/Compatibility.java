package org.statelift.harness;

import java.io.DataInputStream;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.TypeSerializerSchemaCompatibility;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.core.memory.DataInputViewStreamWrapper;
import org.apache.flink.runtime.checkpoint.Checkpoints;
import org.apache.flink.runtime.checkpoint.OperatorState;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.state.CompletedCheckpointStorageLocation;
import org.apache.flink.runtime.state.IncrementalRemoteKeyedStateHandle;
import org.apache.flink.runtime.state.KeyGroupsStateHandle;
import org.apache.flink.runtime.state.KeyedBackendSerializationProxy;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.OperatorBackendSerializationProxy;
import org.apache.flink.runtime.state.OperatorStateHandle;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.state.filesystem.AbstractFsCheckpointStorageAccess;
import org.apache.flink.runtime.state.metainfo.StateMetaInfoSnapshot;
import org.apache.flink.runtime.state.metainfo.StateMetaInfoSnapshot.CommonSerializerKeys;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;

/**
 * Flink's verdict on each state of a snapshot, for the serializers of the job that restores it: {uid: {state:
 * verdict}}, where the verdict is "as is", or others, those of all subtasks and of the namespace too. An operator that
 * tells no serializers is not in it.
 */
final class Compatibility {

    private static final ClassLoader LOADER = Compatibility.class.getClassLoader();

    private final ObjectNode verdicts = Json.object();

    static ObjectNode of(String snapshot, Map<OperatorID, Wanted> wanted) throws Exception {
        Compatibility compatibility = new Compatibility();
        CompletedCheckpointStorageLocation location =
                AbstractFsCheckpointStorageAccess.resolveCheckpointPointer(snapshot);
        try (DataInputStream in = new DataInputStream(location.getMetadataHandle().openInputStream())) {
            for (OperatorState operator :
                    Checkpoints.loadCheckpointMetadata(in, LOADER, snapshot).getOperatorStates()) {
                Wanted serializers = wanted.get(operator.getOperatorID());
                if (serializers != null) {
                    for (OperatorSubtaskState subtask : operator.getStates()) {
                        compatibility.add(serializers, subtask);
                    }
                }
            }
        }
        return compatibility.verdicts;
    }

    private void add(Wanted wanted, OperatorSubtaskState subtask) throws Exception {
        for (KeyedStateHandle handle : subtask.getManagedKeyedState()) {
            StreamStateHandle header = handle instanceof IncrementalRemoteKeyedStateHandle
                    ? ((IncrementalRemoteKeyedStateHandle) handle).getMetaDataStateHandle()
                    : ((KeyGroupsStateHandle) handle).getDelegateStateHandle();
            KeyedBackendSerializationProxy<Object> proxy = new KeyedBackendSerializationProxy<>(LOADER);
            try (FSDataInputStream in = header.openInputStream()) {
                proxy.read(new DataInputViewStreamWrapper(in));
            }
            add(wanted, Wanted.KEY, verdict(wanted.values.get(Wanted.KEY), proxy.getKeySerializerSnapshot()));
            states(wanted, proxy.getStateMetaInfoSnapshots());
        }
        for (OperatorStateHandle handle : subtask.getManagedOperatorState()) {
            OperatorBackendSerializationProxy proxy = new OperatorBackendSerializationProxy(LOADER);
            try (FSDataInputStream in = handle.openInputStream()) {
                proxy.read(new DataInputViewStreamWrapper(in));
            }
            states(wanted, proxy.getOperatorStateMetaInfoSnapshots());
            states(wanted, proxy.getBroadcastStateMetaInfoSnapshots());
        }
    }

    private void states(Wanted wanted, List<StateMetaInfoSnapshot> states) throws Exception {
        for (StateMetaInfoSnapshot state : states) {
            String name = state.getName();
            add(wanted, name, verdict(wanted.values.get(name), state, CommonSerializerKeys.VALUE_SERIALIZER));
            TypeSerializer<?> namespace = wanted.namespaces.get(name);
            if (namespace != null) {
                add(wanted, name, verdict(namespace, state, CommonSerializerKeys.NAMESPACE_SERIALIZER));
            }
        }
    }

    private void add(Wanted wanted, String state, String verdict) {
        ObjectNode operator = verdicts.withObject("/" + wanted.uid);
        Set<String> all = new TreeSet<>(Arrays.asList(operator.path(state).asText(verdict).split(", ")));
        all.add(verdict);
        operator.put(state, String.join(", ", all));
    }

    private static String verdict(TypeSerializer<?> wanted, StateMetaInfoSnapshot state, CommonSerializerKeys key)
            throws Exception {
        return wanted == null ? "not of this job" : verdict(wanted, state.getTypeSerializerSnapshot(key));
    }

    @SuppressWarnings("unchecked")
    private static String verdict(TypeSerializer<?> wanted, TypeSerializerSnapshot<?> written) throws Exception {
        TypeSerializerSnapshot<Object> ours = (TypeSerializerSnapshot<Object>) wanted.snapshotConfiguration();
        TypeSerializerSchemaCompatibility<Object> compatibility = ttlAware(ours)
                .resolveSchemaCompatibility(ttlAware((TypeSerializerSnapshot<Object>) written));
        if (compatibility.isCompatibleAsIs()) {
            return "as is";
        }
        if (compatibility.isCompatibleAfterMigration()) {
            return "after migration";
        }
        return compatibility.isCompatibleWithReconfiguredSerializer() ? "after reconfiguration" : "incompatible";
    }

    /** What the state backends put around both since TTL can be turned on and off; nothing in Flink before that. */
    @SuppressWarnings("unchecked")
    private static TypeSerializerSnapshot<Object> ttlAware(TypeSerializerSnapshot<Object> snapshot) throws Exception {
        Class<?> wrapper;
        try {
            wrapper = Class.forName("org.apache.flink.runtime.state.ttl.TtlAwareSerializerSnapshotWrapper");
        } catch (ClassNotFoundException e) {
            return snapshot;
        }
        Object wrapped = wrapper.getConstructor(TypeSerializerSnapshot.class).newInstance(snapshot);
        return (TypeSerializerSnapshot<Object>) wrapper.getMethod("getTtlAwareSerializerSnapshot").invoke(wrapped);
    }
}
