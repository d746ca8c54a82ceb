package org.statelift.harness;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.JobStatus;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.execution.ExecutionState;
import org.apache.flink.runtime.executiongraph.AccessExecutionGraph;
import org.apache.flink.runtime.executiongraph.AccessExecutionVertex;
import org.apache.flink.runtime.jobgraph.JobGraph;
import org.apache.flink.runtime.jobmaster.JobResult;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/** One job on this JVM's MiniCluster. Closing it cancels the job if it still runs; the cluster stays for the next. */
final class RunningJob implements AutoCloseable {

    private static final int SLOTS = 4;
    private static final int TIMEOUT_SECONDS = 180;

    private static MiniCluster running;
    private static Configuration runningWith;

    final MiniCluster cluster;
    final JobID id;
    private final CompletableFuture<JobResult> result;

    RunningJob(JobSpec spec, Consumer<StreamExecutionEnvironment> build) throws Exception {
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment(spec.configuration);
        env.setParallelism(spec.parallelism);
        env.setMaxParallelism(spec.maxParallelism);
        build.accept(env);
        JobGraph graph = env.getStreamGraph().getJobGraph();
        cluster = cluster(spec);
        id = cluster.submitJob(graph).get().getJobID();
        result = cluster.requestJobResult(id);
    }

    /**
     * Starting a cluster takes longer than a job, so it is kept while the configuration stays the same, but for the
     * options that belong to a job alone.
     */
    private static MiniCluster cluster(JobSpec spec) throws Exception {
        int slots = Math.max(SLOTS, Math.max(spec.parallelism, spec.sinkParallelism));
        Configuration configuration = new Configuration(spec.configuration);
        for (String key : spec.configuration.keySet()) {
            if (key.startsWith("state.backend.")
                    || key.startsWith("pipeline.")
                    || key.startsWith("table.")
                    || key.startsWith("execution.state-recovery.")
                    || key.startsWith("execution.checkpointing.") && !key.endsWith(".data-inline-threshold")) {
                configuration.removeKey(key);
            }
        }
        configuration.setString("taskmanager.numberOfTaskSlots", Integer.toString(slots));
        if (running == null || !configuration.toMap().equals(runningWith.toMap())) {
            if (running != null) {
                running.close();
            }
            running = new MiniCluster(new MiniClusterConfiguration.Builder()
                    .setConfiguration(new Configuration(configuration))
                    .setNumTaskManagers(1)
                    .setNumSlotsPerTaskManager(slots)
                    .build());
            running.start();
            runningWith = configuration;
        }
        return running;
    }

    /** Waits until the condition holds; fails with the job if it ends before. */
    void await(BooleanSupplier condition) throws Exception {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(TIMEOUT_SECONDS);
        while (!condition.getAsBoolean()) {
            if (result.isDone()) {
                awaitEnd();
                throw new IllegalStateException("the job ended too early");
            }
            if (System.nanoTime() > end) {
                throw new IllegalStateException("the job came no further in " + TIMEOUT_SECONDS + " s");
            }
            Thread.sleep(5);
        }
    }

    /** Waits until every subtask runs: a checkpoint before that fails. */
    void awaitRunning() throws Exception {
        await(() -> {
            AccessExecutionGraph graph = cluster.getExecutionGraph(id).join();
            if (graph.getState() != JobStatus.RUNNING) {
                return false; // While it initializes, the graph has no vertices yet.
            }
            for (AccessExecutionVertex vertex : graph.getAllExecutionVertices()) {
                if (vertex.getExecutionState() != ExecutionState.RUNNING) {
                    return false;
                }
            }
            return true;
        });
    }

    /** Waits for the job's end; fails unless it finished. */
    void awaitEnd() throws Exception {
        result.get(TIMEOUT_SECONDS, TimeUnit.SECONDS).toJobExecutionResult(getClass().getClassLoader());
    }

    /** Why the job failed, where it did, of what was seen of it. */
    Exception failure(Exception seen) throws Exception {
        if (cluster.getJobStatus(id).get() == JobStatus.RUNNING) {
            return seen;
        }
        try {
            awaitEnd();
        } catch (Exception e) {
            return e;
        }
        return seen;
    }

    /** Waits for the end of a job that was told to stop or to cancel. */
    void awaitStop() throws Exception {
        result.get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
    }

    @Override
    public void close() throws Exception {
        if (!result.isDone()) {
            cluster.cancelJob(id).get();
            awaitStop();
        }
    }
}
