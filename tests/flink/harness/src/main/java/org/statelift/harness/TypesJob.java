package org.statelift.harness;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.example.lab.T;

/** State of every type of Flink's Java API, operators keyed by every type that can be a key, and session windows. */
final class TypesJob extends TypesFamily {

    private static final List<TypeCase<?>> CASES = new ArrayList<>();
    private static final Choice CHOICE = new Choice(
            Set.of(
                    "string", "big_integer", "big_decimal", "date", "sql_date", "sql_time", "instant", "local_date",
                    "local_time", "local_date_time", "pojo", "record"),
            List.of("other_subclass", "kryo_class", "kryo_order"),
            List.of("long", "string", "tuple", "row", "pojo", "list", "either", "avro_generic", "row_data"));

    static {
        CASES.addAll(CoreCases.all());
        CASES.addAll(CompositeCases.all());
        CASES.addAll(AvroCases.all());
        CASES.addAll(TableCases.all());
    }

    TypesJob() {
        super(CASES, UnheldCases.all(), CHOICE, KeyCases.all());
    }

    @Override
    List<Event> events() {
        List<Event> events = new ArrayList<>(super.events());
        events.addAll(TypesWindows.events());
        return events;
    }

    @Override
    public void expect(Contents contents, JobSpec spec, Script script) {
        super.expect(contents, spec, script);
        TypesWindows.expect(contents);
    }

    @Override
    public void build(StreamExecutionEnvironment env, JobSpec spec, String run, Script script) {
        Configuration registered = new Configuration();
        registered.set(PipelineOptions.SERIALIZATION_CONFIG, List.of(
                T.Registered.class.getName() + ": {type: pojo}", T.Line.class.getName() + ": {type: kryo}"));
        env.configure(registered);
        super.build(env, spec, run, script);
    }

    @Override
    void build(DataStream<Event> events, String record) {
        super.build(events, record);
        TypesWindows.build(Scenario.of(events, TypesWindows.UID), record);
    }
}
