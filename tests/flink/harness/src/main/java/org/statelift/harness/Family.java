package org.statelift.harness;

import java.util.Map;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/** A job with a model of its own contents. A further family is a class here and a line in ALL. */
interface Family {

    Map<String, Family> ALL = Map.of(
            "scenario", new Scenario(), "churn", new Churn(0), "churn-flood", new Churn(3000));

    /** The family of that name in ALL, else of the class of that name in this package. */
    static Family named(String name) {
        if (ALL.containsKey(name)) {
            return ALL.get(name);
        }
        try {
            Class<?> found = Class.forName(Family.class.getPackageName() + "." + name);
            return (Family) found.getDeclaredConstructor().newInstance();
        } catch (ReflectiveOperationException e) {
            throw new IllegalArgumentException("no such family: " + name, e);
        }
    }

    /** The input that a write goes through. */
    Script script(JobSpec spec);

    /** Builds the job; script null for a restore, which then records what it finds under the run's name. */
    void build(StreamExecutionEnvironment env, JobSpec spec, String run, Script script);

    /** How many events of a round its operators count in the run's Gate; a snapshot waits for them. */
    default int processed(Script script, int round) {
        return 0;
    }

    /** What a snapshot after the whole script holds, from the script alone. */
    void expect(Contents contents, JobSpec spec, Script script);
}
