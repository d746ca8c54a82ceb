package org.statelift.harness;

import java.nio.file.Path;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;

/**
 * Restores a job from a snapshot, records all it finds and every timer that fires, and writes that to output. Task
 * fields: snapshot (a path or URL), backend, output (a file), config (Flink options), compatibility (whether to tell
 * Flink's verdict on each serializer), and those of JobSpec.
 */
final class RestoreJob {

    private RestoreJob() {}

    static void run(ObjectNode task, ObjectNode answer) throws Exception {
        JobSpec spec = new JobSpec(task);
        spec.configuration.setString("execution.state-recovery.path", task.get("snapshot").asText());
        spec.configuration.setString("execution.state-recovery.claim-mode", "NO_CLAIM");
        spec.override(task);
        Contents contents = Contents.open(spec.run, spec.maxParallelism);
        try (RunningJob job = new RunningJob(spec, spec.job(null))) {
            job.awaitEnd();
        } finally {
            Contents.close(spec.run);
        }
        ObjectNode found = Json.object().put("parallelism", spec.parallelism);
        found.put("sink_parallelism", spec.sinkParallelism).set("operators", contents.operators());
        if (task.get("compatibility").asBoolean()) {
            found.set("compatibility", Compatibility.of(task.get("snapshot").asText(), contents.wanted()));
        }
        Json.write(found, Path.of(task.get("output").asText()));
    }
}
