package org.statelift.harness;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ArrayNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.PlanReference;
import org.apache.flink.table.api.Schema;
import org.apache.flink.table.api.StatementSet;
import org.apache.flink.table.api.Table;
import org.apache.flink.table.api.TableDescriptor;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.table.api.internal.TableEnvironmentImpl;
import org.apache.flink.table.delegation.Planner;

/**
 * Runs a job of SQL's compiled plan over rounds of its input, table after table, each followed by a checkpoint, so that
 * what comes to an operator of two inputs has one order. Task fields: plan (a file; made of the queries where there is
 * none), statements (run before: tables, views, functions), queries (by the name of their sink), tables (the sources),
 * after and until (rounds), snapshot (to restore, optional), savepoints ({format: folder}; the last stops the job;
 * without any the input ends), output (a file: what came to the sinks), config and those of JobSpec. Answers with the
 * paths of the savepoints by their format.
 */
final class SqlTask {

    private final ObjectNode task;
    private final Path plan;

    private SqlTask(ObjectNode task) {
        this.task = task;
        this.plan = Path.of(task.get("plan").asText());
    }

    static void run(ObjectNode task, ObjectNode answer) throws Exception {
        new SqlTask(task).run(answer);
    }

    private void run(ObjectNode answer) throws Exception {
        JobSpec spec = new JobSpec(task);
        spec.configuration.setString(
                "execution.checkpointing.dir", Path.of(System.getProperty("java.io.tmpdir")).toUri().toString());
        spec.configuration.setString("execution.checkpointing.interval", "3650 d"); // taken by hand only
        if (task.hasNonNull("snapshot")) {
            spec.configuration.setString("execution.state-recovery.path", task.get("snapshot").asText());
        }
        spec.override(task);
        Map<String, Gate> gates = new LinkedHashMap<>();
        task.get("tables").forEach(table -> gates.put(table.asText(), Gate.open(table.asText())));
        SqlTables.RECEIVED.clear();
        try (RunningJob job = new RunningJob(spec, this::build)) {
            job.awaitRunning();
            play(job, gates);
            Iterator<Map.Entry<String, JsonNode>> savepoints = task.get("savepoints").fields();
            if (!savepoints.hasNext()) {
                gates.values().forEach(gate -> gate.ended = true);
                job.awaitEnd();
            }
            while (savepoints.hasNext()) {
                Map.Entry<String, JsonNode> one = savepoints.next();
                String folder = Files.createDirectories(Path.of(one.getValue().asText())).toUri().toString();
                SavepointFormatType format = SavepointFormatType.valueOf(one.getKey().toUpperCase());
                String path = savepoints.hasNext()
                        ? job.cluster.triggerSavepoint(job.id, folder, false, format).get()
                        : job.cluster.stopWithSavepoint(job.id, folder, false, format).get();
                answer.put(one.getKey(), Path.of(URI.create(path)).toString());
            }
            if (task.get("savepoints").size() > 0) {
                job.awaitStop();
            }
        } finally {
            gates.keySet().forEach(Gate::close);
        }
        ObjectNode received = Json.object();
        SqlTables.RECEIVED.forEach((sink, rows) -> {
            ArrayNode lines = received.putArray(sink);
            rows.forEach(lines::add);
        });
        Files.writeString(Path.of(task.get("output").asText()), received.toString());
    }

    private void play(RunningJob job, Map<String, Gate> gates) throws Exception {
        for (int round = task.get("after").asInt() + 1; round <= task.get("until").asInt(); round++) {
            int released = round;
            for (Gate gate : gates.values()) {
                gate.released.set(released);
                job.await(() -> gate.emitted.get() == released);
                job.cluster.triggerCheckpoint(job.id).get();
            }
        }
    }

    private void build(StreamExecutionEnvironment env) {
        StreamTableEnvironment tables =
                StreamTableEnvironment.create(env, EnvironmentSettings.newInstance().inStreamingMode().build());
        task.get("statements").forEach(statement -> tables.executeSql(statement.asText()));
        if (!Files.exists(plan)) {
            StatementSet inserts = tables.createStatementSet();
            task.get("queries").fields().forEachRemaining(query -> insert(tables, inserts, query.getKey(), query.getValue()));
            inserts.compilePlan().writeToFile(plan.toFile());
        }
        Planner planner = ((TableEnvironmentImpl) tables).getPlanner();
        try {
            planner.translatePlan(planner.loadPlan(PlanReference.fromFile(plan.toFile()))).forEach(env::addOperator);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The sink has the columns of the query; one whose rows are by a key takes upserts. */
    private static void insert(StreamTableEnvironment tables, StatementSet inserts, String name, JsonNode query) {
        Table table = tables.sqlQuery(query.get("sql").asText());
        Schema.Builder schema = Schema.newBuilder();
        schema.fromRowDataType(table.getResolvedSchema().toSinkRowDataType());
        if (query.hasNonNull("key")) {
            schema.primaryKey(query.get("key").asText());
        }
        tables.createTable(
                name,
                TableDescriptor.forConnector("script")
                        .schema(schema.build())
                        .option("upsert", Boolean.toString(query.hasNonNull("key")))
                        .build());
        inserts.add(table.insertInto(name));
    }
}
