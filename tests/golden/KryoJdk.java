// Prints kryo_jdk.tsv: what Flink's KryoSerializer writes for objects of JDK classes, each as a value of its own ("top") and
// in an ArrayList: the object, a string, the same object again, another of its class, an int ("list"). The file joins the
// output of 1.20.5 and 2.3.0: its first column says which of them wrote the line. An EnumMap, which neither reads back, is
// left out. What is read back as something else is told: in 1.20 a ZoneOffset without its text, a URL without its handler.
// Class path: flink-core, flink-java (1.20), flink-runtime and chill-java of one version, without flink-avro and Scala; run
// with --add-opens of java.base/java.{lang,math,net,time,util,util.concurrent.atomic}=ALL-UNNAMED.
import java.net.URL;
import java.time.*;
import java.util.*;
import java.util.concurrent.atomic.*;
import org.apache.flink.api.common.serialization.SerializerConfigImpl;
import org.apache.flink.api.java.typeutils.GenericTypeInfo;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.memory.*;

public class KryoJdk {
  static final LocalDateTime NANOS = LocalDateTime.of(2024, 2, 29, 13, 14, 15, 123456789), HOUR = LocalDateTime.of(1969, 1, 1, 13, 0);
  static final ZoneId BERLIN = ZoneId.of("Europe/Berlin");

  public static void main(String[] args) throws Exception {
    print(new AtomicLong(-3), new AtomicLong(1L << 40));
    print(new AtomicInteger(7), new AtomicInteger(-70000));
    print(new AtomicBoolean(true), new AtomicBoolean(false));
    print(Locale.GERMANY, new Locale("es", "ES", "Trad"));
    print(Locale.ENGLISH, Locale.ROOT);
    print(BERLIN, ZoneId.of("UTC"));
    print(ZoneOffset.ofHours(2), ZoneOffset.ofHoursMinutesSeconds(-5, -30, -15));
    print(ZoneOffset.UTC, ZoneOffset.ofTotalSeconds(901));
    print(ZonedDateTime.of(NANOS, BERLIN), ZonedDateTime.of(HOUR, ZoneOffset.UTC));
    print(OffsetDateTime.of(NANOS, ZoneOffset.ofHours(2)), OffsetDateTime.of(HOUR, ZoneOffset.ofHours(2)));
    print(OffsetTime.of(NANOS.toLocalTime(), ZoneOffset.UTC), OffsetTime.of(HOUR.toLocalTime(), ZoneOffset.ofHoursMinutes(-3, -30)));
    print(Year.of(2024), Year.of(-5));
    print(YearMonth.of(2024, 11), YearMonth.of(-5, 1));
    print(MonthDay.of(2, 29), MonthDay.of(12, 31));
    print(Period.of(1, -2, 300), Period.ZERO);
    print(new URL("https://example.org/a?b=c#d"), new URL("http://ü.example/x"));
    print(Currency.getInstance("EUR"), Currency.getInstance("USD"));
    print(OptionalInt.of(-70000), OptionalInt.empty());
    print(OptionalLong.of(1L << 40), OptionalLong.empty());
    print(OptionalDouble.of(2.5), OptionalDouble.empty());
    print(new StringBuilder("abc"), new StringBuilder(""));
    print(new StringBuffer("abcü"), new StringBuffer("x"));
    print(new GregorianCalendar(TimeZone.getTimeZone("Europe/Berlin"), Locale.GERMANY), new GregorianCalendar(TimeZone.getTimeZone("UTC"), Locale.US));
    print(TimeZone.getTimeZone("Europe/Berlin"), TimeZone.getTimeZone("UTC"));
    LocalDateTime time = LocalDateTime.of(1969, 1, 1, 13, 0);
    String again = new String("b");
    // The date and the time in a LocalDateTime of Kryo 2 are counted, too.
    line("strings", time, new ArrayList<>(Arrays.asList(time, new String("a"), again, new String("c"), new String("d"), again)));
    line("enums", time, new ArrayList<>(Arrays.asList(time, DayOfWeek.MONDAY, DayOfWeek.TUESDAY, DayOfWeek.MONDAY)));
    print(new boolean[] {true, false, true}, new boolean[] {});
  }

  static void print(Object value, Object other) throws Exception {
    for (Object one : new Object[] {value, other})
      if (one instanceof GregorianCalendar) ((GregorianCalendar) one).setTimeInMillis(1700000000123L);
    line("top", value, value);
    line("top", other, other);
    line("list", value, new ArrayList<>(Arrays.asList(value, "z", value, other, 9)));
  }

  static void line(String how, Object value, Object written) throws Exception {
    String name = value.getClass().getName();
    DataOutputSerializer out = new DataOutputSerializer(64);
    serializer(written).serialize(written, out);
    Object back = serializer(written).deserialize(new DataInputDeserializer(out.getCopyOfBuffer()));
    if (!text(back).equals(text(written))) System.err.println(name + ": " + text(written) + " is read as " + text(back));
    StringBuilder hex = new StringBuilder();
    for (byte b : out.getCopyOfBuffer()) hex.append(String.format("%02x", b));
    System.out.println(how + "\t" + name + "\t" + hex);
  }

  @SuppressWarnings("unchecked")
  static TypeSerializer<Object> serializer(Object value) {
    return new GenericTypeInfo<>((Class<Object>) value.getClass()).createSerializer(new SerializerConfigImpl());
  }

  static String text(Object value) {
    try {
      return value instanceof boolean[] ? Arrays.toString((boolean[]) value) : value instanceof List && ((List<?>) value).get(0) instanceof boolean[] ? "" : "" + value;
    } catch (RuntimeException e) {
      return e.toString();
    }
  }
}
