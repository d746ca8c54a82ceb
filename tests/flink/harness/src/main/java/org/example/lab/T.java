package org.example.lab;

import java.math.BigDecimal;
import java.time.Instant;
import java.time.LocalDate;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.apache.avro.Schema;
import org.apache.avro.data.TimeConversions;
import org.apache.avro.specific.SpecificData;
import org.apache.avro.specific.SpecificRecordBase;

/** The user classes of every kind that the types job keeps; their names end up in the serializer snapshots. */
public final class T {

    private T() {}

    public enum Color {
        RED,
        GREEN {
            @Override
            public String toString() {
                return "grün";
            }
        },
        BLUE
    }

    /** A POJO with a field of each kind that is not Kryo's; the fields are in no order. */
    public static class Person {
        public String name;
        public int age;
        public Long seen;
        public boolean active;
        public Address home;
        public Color color;
        public BigDecimal balance;
        public int[] scores;
        public String[] nicks;
        public Character initial;
        public Instant born;
        public java.sql.Timestamp changed;
        public double ratio;
        public byte small;
    }

    public static class Address {
        public String street;
        public Integer number;
        public Country country;
    }

    public static class Country {
        public String code;
    }

    public static class Collections {
        public List<String> tags;
        public Map<String, Integer> counts;
        public Set<Long> ids;
        public LocalDate since;
        public long total;
    }

    public static class Box<V> {
        public V content;
        public int count;
    }

    public static class Base {
        public int b;
    }

    public static class Registered extends Base {
        public String extra;
    }

    public static class Unregistered extends Base {
        public long more;
    }

    /** A POJO that is a key. */
    public static class Place {
        public String city;
        public int zip;

        public Place() {}

        public Place(String city, int zip) {
            this.city = city;
            this.zip = zip;
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Place && ((Place) other).zip == zip && Objects.equals(((Place) other).city, city);
        }

        @Override
        public int hashCode() {
            return Objects.hash(city, zip);
        }
    }

    public record Point(String z, int y, Long x) {}

    /** No POJO: Kryo's. */
    public static final class Opaque {
        public final String left;
        public final int right;

        public Opaque(String left, int right) {
            this.left = left;
            this.right = right;
        }

        @SuppressWarnings("unused")
        private Opaque() {
            this(null, 0);
        }
    }

    /** Kryo's too, with a field of each kind that can be declared. */
    public static class Order {
        public final long id;
        public Integer count;
        public String note;
        public Status status;
        public List<String> tags;
        public Map<String, Double> weights;
        public int[] sizes;
        public BigDecimal total;
        public Instant placed;
        public Line first;
        public List<Line> lines;
        public Object any;

        public Order(long id) {
            this.id = id;
        }
    }

    public static class BigOrder extends Order {
        public String approvedBy;

        public BigOrder(long id, String approvedBy) {
            super(id);
            this.approvedBy = approvedBy;
        }
    }

    public enum Status {
        OPEN,
        PAID
    }

    /** Registered with Kryo, which writes its number. */
    public static class Line {
        public final String article;
        public final double price;

        public Line(String article, double price) {
            this.article = article;
            this.price = price;
        }
    }

    /** For Avro's reflection. */
    public static class Reflected {
        public String id;
        public long amount;
        public List<String> lines;
        public Map<String, Integer> stock;
        public Color color;
        public List<Double> weights;
        public Inner inner;

        public static class Inner {
            public boolean flag;
        }
    }

    /** What Avro's compiler makes of a schema, in short. */
    public static class Payment extends SpecificRecordBase {
        public static final Schema SCHEMA$ = new Schema.Parser().parse("""
                {"type": "record", "name": "Payment", "namespace": "org.example.lab.T$", "fields": [
                  {"name": "id", "type": {"type": "string", "avro.java.string": "String"}},
                  {"name": "amount", "type": "long"},
                  {"name": "note", "type": ["null", {"type": "string", "avro.java.string": "String"}],
                   "default": null},
                  {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
                  {"name": "day", "type": {"type": "int", "logicalType": "date"}},
                  {"name": "lines", "type": {"type": "array", "items": "double"}}]}""");
        public static final SpecificData MODEL$ = new SpecificData();

        static {
            MODEL$.addLogicalTypeConversion(new TimeConversions.TimestampMillisConversion());
            MODEL$.addLogicalTypeConversion(new TimeConversions.DateConversion());
        }

        public String id;
        public long amount;
        public String note;
        public Instant at;
        public LocalDate day;
        public List<Double> lines;

        @Override
        public Schema getSchema() {
            return SCHEMA$;
        }

        @Override
        public SpecificData getSpecificData() {
            return MODEL$;
        }

        @Override
        public org.apache.avro.Conversion<?> getConversion(int field) {
            return field == 3
                    ? new TimeConversions.TimestampMillisConversion()
                    : field == 4 ? new TimeConversions.DateConversion() : null;
        }

        @Override
        public Object get(int field) {
            return new Object[] {id, amount, note, at, day, lines}[field];
        }

        @Override
        @SuppressWarnings("unchecked")
        public void put(int field, Object value) {
            switch (field) {
                case 0 -> id = value.toString();
                case 1 -> amount = (Long) value;
                case 2 -> note = value == null ? null : value.toString();
                case 3 -> at = (Instant) value;
                case 4 -> day = (LocalDate) value;
                default -> lines = (List<Double>) value;
            }
        }
    }
}
