package org.statelift.harness;

import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.JobStatus;
import org.apache.flink.runtime.execution.ExecutionState;
import org.apache.flink.runtime.executiongraph.AccessExecutionGraph;
import org.apache.flink.runtime.executiongraph.AccessExecutionVertex;
import org.apache.flink.runtime.jobgraph.JobGraph;
import org.apache.flink.runtime.jobmaster.JobResult;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/** A MiniCluster that runs one job with the job's own configuration. */
final class Cluster implements AutoCloseable {

    final MiniCluster mini;
    final JobID job;
    private final CompletableFuture<JobResult> result;

    Cluster(JobSpec spec, Script script) throws Exception {
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment(spec.configuration);
        env.setParallelism(spec.parallelism);
        env.setMaxParallelism(spec.maxParallelism);
        spec.family.build(env, spec, spec.run, script);
        JobGraph graph = env.getStreamGraph().getJobGraph();
        mini = new MiniCluster(new MiniClusterConfiguration.Builder()
                .setConfiguration(spec.configuration)
                .setNumTaskManagers(1)
                .setNumSlotsPerTaskManager(Math.max(spec.parallelism, spec.sinkParallelism))
                .build());
        mini.start();
        job = mini.submitJob(graph).get().getJobID();
        result = mini.requestJobResult(job);
    }

    /** Waits until the condition holds; fails with the job if it ends before. */
    void await(BooleanSupplier condition) throws Exception {
        while (!condition.getAsBoolean()) {
            if (result.isDone()) {
                awaitEnd();
                throw new IllegalStateException("the job ended too early");
            }
            Thread.sleep(5);
        }
    }

    /** Waits until every subtask runs: a checkpoint before that fails. */
    void awaitRunning() throws Exception {
        await(() -> {
            AccessExecutionGraph graph = mini.getExecutionGraph(job).join();
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
        result.get().toJobExecutionResult(getClass().getClassLoader());
    }

    @Override
    public void close() throws Exception {
        mini.close();
    }
}
