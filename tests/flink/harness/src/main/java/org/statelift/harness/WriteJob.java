package org.statelift.harness;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.ExecutionException;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.util.EnvironmentInformation;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;

/**
 * Runs a job over its whole script and snapshots it. Task fields: target (a folder), backend, format (canonical,
 * native: a savepoint; checkpoint: a retained one), stop (savepoint by stop, else by cancel), expected (a file,
 * optional), config (Flink options), and those of JobSpec. Answers with path. Between rounds it takes checkpoints,
 * so that RocksDB flushes: each round ends in files of its own. With until, it stops after so many rounds; with
 * snapshot (a path or URL) and after, it restores that job, which came so far, and goes on.
 */
final class WriteJob {

    private WriteJob() {}

    static void run(ObjectNode task, ObjectNode answer) throws Exception {
        JobSpec spec = new JobSpec(task);
        String format = task.get("format").asText();
        Path target = Files.createDirectories(Path.of(task.get("target").asText()));
        Path checkpoints = format.equals("checkpoint") ? target : Path.of(System.getProperty("java.io.tmpdir"));
        spec.configuration.setString("execution.checkpointing.dir", checkpoints.toUri().toString());
        spec.configuration.setString("execution.checkpointing.interval", "3650 d"); // taken by hand only
        spec.configuration.setString("execution.checkpointing.incremental", "true");
        spec.configuration.setString(
                "execution.checkpointing.externalized-checkpoint-retention",
                format.equals("checkpoint") ? "RETAIN_ON_CANCELLATION" : "DELETE_ON_CANCELLATION");
        spec.override(task);

        Script script = spec.family.script(spec);
        int after = task.path("after").asInt(0);
        int until = task.path("until").asInt(script.rounds());
        if (task.hasNonNull("snapshot")) {
            spec.configuration.setString("execution.state-recovery.path", task.get("snapshot").asText());
        }
        Gate gate = Gate.open(spec.run);
        try (RunningJob job = new RunningJob(spec, spec.job(script))) {
            job.awaitRunning();
            try {
                play(job, gate, spec.family, script, after, until);
                answer.put("path", snapshot(job, task, format, target));
            } catch (ExecutionException e) {
                throw job.failure(e);
            }
        } finally {
            Gate.close(spec.run);
        }
        if (task.hasNonNull("expected")) {
            Json.write(expected(task, spec, script.until(until)), Path.of(task.get("expected").asText()));
        }
    }

    /** Releases the rounds one by one. */
    private static void play(RunningJob job, Gate gate, Family family, Script script, int after, int until)
            throws Exception {
        int processed = 0;
        for (int round = after + 1; round <= until; round++) {
            if (round > 1) {
                job.cluster.triggerCheckpoint(job.id).get();
            }
            int released = round;
            gate.released.set(released);
            job.await(() -> gate.emitted.get() == released);
            processed += family.processed(script, round - 1);
            int all = processed;
            job.await(() -> gate.processed.get() >= all);
        }
    }

    private static String snapshot(RunningJob job, ObjectNode task, String format, Path target) throws Exception {
        String path;
        if (format.equals("checkpoint")) {
            path = job.cluster.triggerCheckpoint(job.id).get();
            job.cluster.cancelJob(job.id).get();
        } else {
            String directory = target.toUri().toString();
            SavepointFormatType type = SavepointFormatType.valueOf(format.toUpperCase());
            path = task.path("stop").asBoolean(true)
                    ? job.cluster.stopWithSavepoint(job.id, directory, false, type).get()
                    : job.cluster.triggerSavepoint(job.id, directory, true, type).get();
        }
        job.awaitStop();
        return path;
    }

    private static ObjectNode expected(ObjectNode task, JobSpec spec, Script script) {
        Contents contents = new Contents(spec.maxParallelism);
        spec.family.expect(contents, spec, script);
        ObjectNode expected = Json.object().put("flink", EnvironmentInformation.getVersion());
        task.fieldNames().forEachRemaining(field -> {
            if (!field.matches("task|target|expected|snapshot")) {
                expected.set(field, task.get(field));
            }
        });
        return expected.set("operators", contents.operators());
    }
}
