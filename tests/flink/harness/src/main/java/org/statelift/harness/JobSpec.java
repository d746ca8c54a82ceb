package org.statelift.harness;

import java.util.UUID;
import java.util.function.Consumer;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/** What both tasks say of a job: which, how wide, how many keys, on which backend, with which further options. */
final class JobSpec {

    final String run = UUID.randomUUID().toString();
    final Family family;
    final int parallelism;
    final int sinkParallelism;
    final int maxParallelism;
    final int keys;
    final int rounds;
    final Configuration configuration = new Configuration();

    JobSpec(ObjectNode task) {
        String name = task.path("family").asText("scenario");
        family = Family.named(name);
        parallelism = task.get("parallelism").asInt();
        sinkParallelism = task.path("sink_parallelism").asInt(parallelism);
        maxParallelism = task.path("max_parallelism").asInt(128);
        keys = task.path("keys").asInt();
        rounds = task.path("rounds").asInt();
        configuration.setString("state.backend.type", task.get("backend").asText());
        // A slot's managed memory is so little here that RocksDB would flush at nearly every write.
        configuration.setString("state.backend.rocksdb.memory.managed", "false");
        configuration.setString("restart-strategy.type", "none");
        configuration.setString("rest.bind-port", "0");
        configuration.setString("rest.port", "0");
        configuration.setString("io.tmp.dirs", System.getProperty("java.io.tmpdir"));
    }

    /** Builds its family's job. */
    Consumer<StreamExecutionEnvironment> job(Script script) {
        return env -> family.build(env, this, run, script);
    }

    /** The task's own options, which win over all others. */
    void override(ObjectNode task) {
        task.path("config").fieldNames().forEachRemaining(
                option -> configuration.setString(option, task.get("config").get(option).asText()));
    }
}
