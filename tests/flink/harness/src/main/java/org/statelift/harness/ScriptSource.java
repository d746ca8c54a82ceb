package org.statelift.harness;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.connector.source.Boundedness;
import org.apache.flink.api.connector.source.ReaderOutput;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.api.connector.source.SourceSplit;
import org.apache.flink.api.connector.source.SplitEnumerator;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;
import org.apache.flink.core.io.InputStatus;
import org.apache.flink.core.io.SimpleVersionedSerializer;

/**
 * A source of parallelism 1. Writing (script given), it emits the rounds that its Gate has released and then idles:
 * no watermark, no end before the Gate says so. Restored (script null), it records its split and its enumerator's state and ends, which
 * sends the highest watermark through the job and so fires every event-time timer.
 */
final class ScriptSource implements Source<Event, ScriptSource.Position, String> {

    static final String UID = "gen-source";
    private static final String ASSIGNED = "script assigned";

    private final String run;
    private final Script script;

    ScriptSource(String run, Script script) {
        this.run = run;
        this.script = script;
    }

    /** The split: how many rounds of the script have been emitted. */
    static final class Position implements SourceSplit {
        final int rounds;

        Position(int rounds) {
            this.rounds = rounds;
        }

        @Override
        public String splitId() {
            return "script";
        }
    }

    /** What the source adds to the expected contents of a snapshot taken after these rounds. */
    static void expect(Contents contents, int rounds) {
        contents.add(UID, "other", "splits", null, Json.object().put("id", "script").put("rounds", rounds));
        contents.add(UID, "other", "enumerator", null, Json.value(ASSIGNED));
    }

    @Override
    public Boundedness getBoundedness() {
        return Boundedness.CONTINUOUS_UNBOUNDED;
    }

    @Override
    public SourceReader<Event, Position> createReader(SourceReaderContext context) {
        return new Reader();
    }

    @Override
    public SplitEnumerator<Position, String> createEnumerator(SplitEnumeratorContext<Position> context) {
        return new Enumerator(context, "");
    }

    @Override
    public SplitEnumerator<Position, String> restoreEnumerator(
            SplitEnumeratorContext<Position> context, String state) {
        if (script == null) {
            Contents.of(run).add(UID, "other", "enumerator", null, Json.value(state));
        }
        return new Enumerator(context, state);
    }

    @Override
    public SimpleVersionedSerializer<Position> getSplitSerializer() {
        return new Text<>() {
            @Override
            String format(Position split) {
                return Integer.toString(split.rounds);
            }

            @Override
            Position parse(String text) {
                return new Position(Integer.parseInt(text));
            }
        };
    }

    @Override
    public SimpleVersionedSerializer<String> getEnumeratorCheckpointSerializer() {
        return new Text<>() {
            @Override
            String format(String state) {
                return state;
            }

            @Override
            String parse(String text) {
                return text;
            }
        };
    }

    private abstract static class Text<T> implements SimpleVersionedSerializer<T> {
        abstract String format(T value);

        abstract T parse(String text);

        @Override
        public int getVersion() {
            return 1;
        }

        @Override
        public byte[] serialize(T value) {
            return format(value).getBytes(StandardCharsets.UTF_8);
        }

        @Override
        public T deserialize(int version, byte[] bytes) {
            return parse(new String(bytes, StandardCharsets.UTF_8));
        }
    }

    private static final class Enumerator implements SplitEnumerator<Position, String> {
        private final SplitEnumeratorContext<Position> context;
        private String state;

        Enumerator(SplitEnumeratorContext<Position> context, String state) {
            this.context = context;
            this.state = state;
        }

        @Override
        public void start() {}

        @Override
        public void handleSplitRequest(int subtask, String host) {}

        @Override
        public void addSplitsBack(List<Position> splits, int subtask) {}

        @Override
        public void addReader(int subtask) {
            if (state.isEmpty()) {
                context.assignSplit(new Position(0), subtask);
                state = ASSIGNED;
            }
        }

        @Override
        public String snapshotState(long checkpointId) {
            return state;
        }

        @Override
        public void close() {}
    }

    private final class Reader implements SourceReader<Event, Position> {
        private final Executor soon = CompletableFuture.delayedExecutor(5, TimeUnit.MILLISECONDS);
        private final List<Position> splits = new ArrayList<>();

        @Override
        public void start() {}

        @Override
        public void addSplits(List<Position> added) {
            splits.addAll(added);
            if (script == null) {
                for (Position split : added) {
                    Contents.of(run).add(UID, "other", "splits", null,
                            Json.object().put("id", split.splitId()).put("rounds", split.rounds));
                }
            }
        }

        @Override
        public InputStatus pollNext(ReaderOutput<Event> output) {
            if (script == null) {
                return InputStatus.END_OF_INPUT;
            }
            Gate gate = Gate.of(run);
            while (!splits.isEmpty() && splits.get(0).rounds < gate.released.get()) {
                int round = splits.get(0).rounds;
                for (int position = 0; position < script.size(round); position++) {
                    Event event = script.event(round, position);
                    if (event != null) {
                        output.collect(event);
                    }
                }
                splits.set(0, new Position(round + 1));
                gate.emitted.set(round + 1);
            }
            return gate.ended ? InputStatus.END_OF_INPUT : InputStatus.NOTHING_AVAILABLE;
        }

        @Override
        public List<Position> snapshotState(long checkpointId) {
            return splits;
        }

        @Override
        public CompletableFuture<Void> isAvailable() {
            return CompletableFuture.runAsync(() -> {}, soon);
        }

        @Override
        public void notifyNoMoreSplits() {}

        @Override
        public void close() {}
    }
}
