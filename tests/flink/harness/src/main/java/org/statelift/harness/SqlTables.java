package org.statelift.harness;

import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.DataStreamSink;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.ProcessFunction;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.table.api.DataTypes;
import org.apache.flink.table.connector.ChangelogMode;
import org.apache.flink.table.connector.ProviderContext;
import org.apache.flink.table.connector.RuntimeConverter;
import org.apache.flink.table.connector.sink.DataStreamSinkProvider;
import org.apache.flink.table.connector.sink.DynamicTableSink;
import org.apache.flink.table.connector.source.DataStreamScanProvider;
import org.apache.flink.table.connector.source.DynamicTableSource;
import org.apache.flink.table.connector.source.ScanTableSource;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.TimestampData;
import org.apache.flink.table.factories.DynamicTableSinkFactory;
import org.apache.flink.table.factories.DynamicTableSourceFactory;
import org.apache.flink.table.factories.FactoryUtil;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.table.types.DataType;
import org.apache.flink.types.Row;
import org.apache.flink.types.RowKind;
import org.apache.flink.util.Collector;

/**
 * The connector 'script'. A source has rows (n BIGINT, id INT, ts TIMESTAMP(3)), the n-th made of n alone, that the Gate
 * of the table's name lets out round by round; all else SQL computes of n. A sink keeps what comes as text.
 */
public final class SqlTables implements DynamicTableSourceFactory, DynamicTableSinkFactory {

    private static final ConfigOption<Integer> SIZE = ConfigOptions.key("size").intType().defaultValue(0);
    private static final ConfigOption<Integer> IDS = ConfigOptions.key("ids").intType().defaultValue(1);
    private static final ConfigOption<Boolean> UPSERT = ConfigOptions.key("upsert").booleanType().defaultValue(false);

    /** What came to the sinks of the job that runs, by their names. */
    static final Map<String, List<String>> RECEIVED = new ConcurrentHashMap<>();

    @Override
    public String factoryIdentifier() {
        return "script";
    }

    @Override
    public Set<ConfigOption<?>> requiredOptions() {
        return Set.of();
    }

    @Override
    public Set<ConfigOption<?>> optionalOptions() {
        return Set.of(SIZE, IDS, UPSERT);
    }

    @Override
    public DynamicTableSource createDynamicTableSource(Context context) {
        ReadableConfig options = FactoryUtil.createTableFactoryHelper(this, context).getOptions();
        return new Source(
                context.getObjectIdentifier().getObjectName(),
                options.get(SIZE),
                options.get(IDS),
                options.get(UPSERT),
                context.getPhysicalRowDataType());
    }

    @Override
    public DynamicTableSink createDynamicTableSink(Context context) {
        return new Sink(
                context.getObjectIdentifier().getObjectName(),
                FactoryUtil.createTableFactoryHelper(this, context).getOptions().get(UPSERT),
                context.getPhysicalRowDataType());
    }

    /** As many events a round as the size says; there is no end of rounds. */
    private record Numbers(int size) implements Script {
        @Override
        public int rounds() {
            return Integer.MAX_VALUE;
        }

        @Override
        public int size(int round) {
            return size;
        }

        @Override
        public Event event(int round, int position) {
            return new Event("", round * size + position, round);
        }
    }

    private record Source(String name, int size, int ids, boolean upsert, DataType type) implements ScanTableSource {

        @Override
        public ChangelogMode getChangelogMode() {
            return upsert ? ChangelogMode.upsert() : ChangelogMode.insertOnly();
        }

        @Override
        public ScanRuntimeProvider getScanRuntimeProvider(ScanContext context) {
            return new DataStreamScanProvider() {
                @Override
                public DataStream<RowData> produceDataStream(ProviderContext provider, StreamExecutionEnvironment env) {
                    ScriptSource source = new ScriptSource(name, new Numbers(size));
                    int keys = ids; // not this: a function that Flink ships holds no table
                    boolean changes = upsert;
                    return env.fromSource(source, WatermarkStrategy.noWatermarks(), name, TypeInformation.of(Event.class))
                            .uid(provider.generateUid("script").orElse(name))
                            .setParallelism(1)
                            .map(event -> row(event.index, keys, changes), InternalTypeInfo.of(type.getLogicalType()))
                            .setParallelism(1);
                }

                @Override
                public boolean isBounded() {
                    return false;
                }
            };
        }

        private static RowData row(int n, int ids, boolean upsert) {
            RowKind kind = !upsert ? RowKind.INSERT : n % 11 == 10 ? RowKind.DELETE : RowKind.UPDATE_AFTER;
            int id = (int) (n * 7919L % ids);
            long ts = n * 100L + n * 37L % 11 * 50; // out of order by half a second
            return GenericRowData.ofKind(kind, (long) n, id, TimestampData.fromEpochMillis(ts));
        }

        @Override
        public DynamicTableSource copy() {
            return this;
        }

        @Override
        public String asSummaryString() {
            return name;
        }
    }

    private record Sink(String name, boolean upsert, DataType type) implements DynamicTableSink {

        @Override
        public ChangelogMode getChangelogMode(ChangelogMode requested) {
            return upsert ? ChangelogMode.upsert() : requested;
        }

        @Override
        public SinkRuntimeProvider getSinkRuntimeProvider(Context context) {
            DataStructureConverter converter = context.createDataStructureConverter(type);
            return new DataStreamSinkProvider() {
                @Override
                public DataStreamSink<?> consumeDataStream(ProviderContext provider, DataStream<RowData> rows) {
                    return rows.process(new Recorder(name, converter))
                            .uid(provider.generateUid("recorder").orElse(name))
                            .setParallelism(1)
                            .sinkTo(new DiscardingSink<>())
                            .setParallelism(1);
                }
            };
        }

        @Override
        public DynamicTableSink copy() {
            return this;
        }

        @Override
        public String asSummaryString() {
            return name;
        }
    }

    private static final class Recorder extends ProcessFunction<RowData, Void> {
        private final String name;
        private final DynamicTableSink.DataStructureConverter converter;

        Recorder(String name, DynamicTableSink.DataStructureConverter converter) {
            this.name = name;
            this.converter = converter;
        }

        @Override
        public void open(OpenContext context) {
            converter.open(RuntimeConverter.Context.create(getRuntimeContext().getUserCodeClassLoader()));
        }

        @Override
        public void processElement(RowData row, Context context, Collector<Void> out) {
            RECEIVED.computeIfAbsent(name, any -> new ArrayList<>()).add(text(converter.toExternal(row)));
        }

        private static String text(Object value) {
            if (value instanceof Row) {
                Row row = (Row) value;
                List<String> fields = new ArrayList<>();
                for (int i = 0; i < row.getArity(); i++) {
                    fields.add(text(row.getField(i)));
                }
                return row.getKind().shortString() + fields;
            } else if (value instanceof Map) {
                Map<String, String> sorted = new TreeMap<>();
                ((Map<?, ?>) value).forEach((k, v) -> sorted.put(text(k), text(v)));
                return sorted.toString();
            } else if (value instanceof byte[]) {
                return Arrays.toString((byte[]) value);
            } else if (value instanceof Object[]) {
                return Arrays.stream((Object[]) value).map(Recorder::text).toList().toString();
            }
            return String.valueOf(value);
        }
    }
}
