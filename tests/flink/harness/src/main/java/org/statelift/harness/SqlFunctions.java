package org.statelift.harness;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.table.annotation.DataTypeHint;
import org.apache.flink.table.api.DataTypes;
import org.apache.flink.table.api.dataview.ListView;
import org.apache.flink.table.api.dataview.MapView;
import org.apache.flink.table.catalog.DataTypeFactory;
import org.apache.flink.table.functions.AggregateFunction;
import org.apache.flink.table.types.DataType;
import org.apache.flink.table.types.inference.TypeInference;
import org.apache.flink.types.Row;

/** Aggregate functions whose accumulators are of every kind that a user's may be. */
public final class SqlFunctions {

    private SqlFunctions() {}

    /** A structured type: views, which are states of their own, and fields of it. */
    public static class Viewed {
        public ListView<Long> longs = new ListView<>();
        public MapView<String, Long> counts = new MapView<>();

        @DataTypeHint("ROW<number BIGINT, text STRING>")
        public Row last;

        @DataTypeHint("DECIMAL(30, 3)")
        public BigDecimal total = BigDecimal.ZERO;

        public String text;
        public long rows;
        public Part part = new Part();
    }

    /** A structured type in one. */
    public static class Part {
        public Integer least;
        public Double mean;
    }

    /** Text of all it has seen. */
    public static class ViewedText extends AggregateFunction<String, Viewed> {

        @Override
        public Viewed createAccumulator() {
            return new Viewed();
        }

        public void accumulate(Viewed acc, Long number, String text) throws Exception {
            acc.longs.add(number);
            Long count = acc.counts.get("of " + text); // a view has no null keys
            acc.counts.put("of " + text, count == null ? 1 : count + 1);
            acc.last = number % 5 == 0 ? null : Row.of(number, text);
            acc.total = acc.total.add(BigDecimal.valueOf(number, 3));
            acc.text = text;
            acc.rows++;
            if (acc.part.least == null || number < acc.part.least) {
                acc.part.least = number.intValue();
            }
            acc.part.mean = acc.total.doubleValue() / acc.rows;
        }

        public void merge(Viewed acc, Iterable<Viewed> others) throws Exception {
            for (Viewed other : others) {
                acc.longs.addAll(other.longs.getList());
                for (Map.Entry<String, Long> entry : other.counts.entries()) {
                    Long count = acc.counts.get(entry.getKey());
                    acc.counts.put(entry.getKey(), entry.getValue() + (count == null ? 0 : count));
                }
                acc.last = other.last;
                acc.total = acc.total.add(other.total);
                acc.text = other.text;
                acc.rows += other.rows;
                if (acc.part.least == null || other.part.least != null && other.part.least < acc.part.least) {
                    acc.part.least = other.part.least;
                }
                acc.part.mean = acc.rows == 0 ? null : acc.total.doubleValue() / acc.rows;
            }
        }

        @Override
        public String getValue(Viewed acc) {
            try {
                TreeMap<String, Long> counts = new TreeMap<>();
                for (Map.Entry<String, Long> entry : acc.counts.entries()) {
                    counts.put(String.valueOf(entry.getKey()), entry.getValue());
                }
                List<Long> longs = new ArrayList<>();
                acc.longs.get().forEach(longs::add);
                return longs.hashCode() + " " + longs.size() + " " + counts.hashCode() + " " + acc.last + " " + acc.total
                        + " " + acc.text + " " + acc.rows + " " + acc.part.least + " " + acc.part.mean;
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }
    }

    /** What only Java knows: RAW columns of Flink's own serializers. */
    public static class Raws {
        public List<Long> longs = new ArrayList<>();
        public Map<String, Integer> counts = new HashMap<>();
        public Part part = new Part();
        public BitSet bits = new BitSet();
        public Long count = 0L;
    }

    /** The same of such an accumulator. */
    public static class RawText extends AggregateFunction<String, Raws> {

        @Override
        public Raws createAccumulator() {
            return new Raws();
        }

        public void accumulate(Raws acc, Long number) {
            acc.longs.add(number);
            acc.counts.merge("by " + number % 3, 1, Integer::sum);
            acc.part.least = acc.part.least == null ? number.intValue() : Math.min(acc.part.least, number.intValue());
            acc.bits.set((int) (number % 100));
            acc.count++;
        }

        @Override
        public String getValue(Raws acc) {
            return acc.longs.hashCode() + " " + new TreeMap<>(acc.counts) + " " + acc.part.least + " "
                    + acc.bits.cardinality() + " " + acc.count;
        }

        @Override
        public TypeInference getTypeInference(DataTypeFactory factory) {
            DataType accumulator = DataTypes.STRUCTURED(
                    Raws.class,
                    DataTypes.FIELD("longs", raw(factory, Types.LIST(Types.LONG))),
                    DataTypes.FIELD("counts", raw(factory, Types.MAP(Types.STRING, Types.INT))),
                    DataTypes.FIELD("part", raw(factory, Types.POJO(Part.class))),
                    DataTypes.FIELD("bits", raw(factory, Types.GENERIC(BitSet.class))),
                    DataTypes.FIELD("count", DataTypes.BIGINT()));
            return TypeInference.newBuilder()
                    .typedArguments(DataTypes.BIGINT())
                    .accumulatorTypeStrategy(call -> Optional.of(accumulator))
                    .outputTypeStrategy(call -> Optional.of(DataTypes.STRING()))
                    .build();
        }

        private static DataType raw(DataTypeFactory factory, org.apache.flink.api.common.typeinfo.TypeInformation<?> type) {
            return factory.createRawDataType(type);
        }
    }
}
