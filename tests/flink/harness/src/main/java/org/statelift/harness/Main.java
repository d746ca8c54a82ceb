package org.statelift.harness;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;

/**
 * Reads tasks from standard input, one JSON object a line, and answers each with one JSON line: {"ok": true, …} or
 * {"ok": false, "error": stack trace}. Ends with the input; the exit code is 1 where any task failed.
 */
public final class Main {

    public static void main(String[] args) throws Exception {
        PrintStream answers = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        System.setOut(System.err); // Flink and libraries may print; the answers stay alone on standard output.
        boolean failed = false;
        BufferedReader tasks = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = tasks.readLine(); line != null; line = tasks.readLine()) {
            ObjectNode answer = Json.object();
            try {
                run(Json.parse(line), answer);
                answer.put("ok", true);
            } catch (Throwable t) {
                StringWriter trace = new StringWriter();
                t.printStackTrace(new PrintWriter(trace));
                answer.removeAll();
                answer.put("ok", false).put("error", trace.toString());
                failed = true;
            }
            answers.println(answer);
        }
        System.exit(failed ? 1 : 0);
    }

    private static void run(ObjectNode task, ObjectNode answer) throws Exception {
        switch (task.get("task").asText()) {
            case "write":
                WriteJob.run(task, answer);
                break;
            case "restore":
                RestoreJob.run(task, answer);
                break;
            case "sql":
                SqlTask.run(task, answer);
                break;
            default:
                throw new IllegalArgumentException("no such task: " + task.get("task"));
        }
    }
}
