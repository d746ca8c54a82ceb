package org.statelift.harness;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** Lets the driver of a job release its source round by round and see how far it has come. */
final class Gate {

    private static final Map<String, Gate> RUNS = new ConcurrentHashMap<>();

    final AtomicInteger released = new AtomicInteger();
    final AtomicInteger emitted = new AtomicInteger();
    final AtomicInteger processed = new AtomicInteger();
    volatile boolean ended;

    static Gate open(String run) {
        Gate gate = new Gate();
        RUNS.put(run, gate);
        return gate;
    }

    static Gate of(String run) {
        return RUNS.get(run);
    }

    static void close(String run) {
        RUNS.remove(run);
    }
}
