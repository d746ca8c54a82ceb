// Prints kryo_shapes.tsv: name and bytes of what Flink's KryoSerializer writes for an object. The file joins the
// output of 1.20.5 and 2.3.0: its first column says which of them wrote the line. kryo_shapes.yaml declares the classes.
// Class path: flink-core, flink-java (1.20), flink-runtime and chill-java of one version, without flink-avro and Scala;
// run with --add-opens of java.base/java.{lang,math,time,util}=ALL-UNNAMED.
// Strings are made anew, but in Shared: Kryo writes the same object once.
import java.math.*;
import java.net.URI;
import java.time.*;
import java.util.*;
import org.apache.flink.api.common.serialization.SerializerConfigImpl;
import org.apache.flink.api.java.typeutils.GenericTypeInfo;
import org.apache.flink.core.memory.DataOutputSerializer;

public class KryoShapes {
  enum Color { RED, GREEN, BLUE }
  static class Base { int b; Base(int b) { this.b = b; } }
  static class Sub extends Base { String more; Sub(int b, String more) { super(b); this.more = more; } }
  static final class Fin { long x; Fin(long x) { this.x = x; } }
  static class Item { String name; int n; Item(String name, int n) { this.name = name; this.n = n; } }

  static class Fields {
    boolean bo = true; byte by = -2; short sh = -300; int in = -70000; long lo = 1L << 40; float fl = 1.5f; double dou = -2.25; char ch = 'é';
    Boolean Bo = false; Byte By = 3; Short Sh = 4; Integer In = 5; Long Lo = -6L; Float Fl = 7f; Double Dou = 8d; Character Ch = 'x';
    String st = s("häß"); String nul = null; String longer = s("a string of more than thirty-two characters, and fewer than 64");
    byte[] bytes = {1, -1}; int[] ints = {1, -2, 300}; long[] longs = {5, -6}; double[] doubles = {0.5}; boolean[] flags = {true, false};
    short[] shorts = {1, -1}; char[] chars = {'a', 'é'}; float[] floats = {1.5f}; String[] strings = {s("a"), null, s("b")};
    Item[] array = {new Item(s("k"), 3), null}; int[][] grid = {{1, 2}, {}, null}; Long[] boxes = {1L, null};
    BigInteger bi = new BigInteger("-12345678901234567890"); BigInteger one = BigInteger.ONE; BigDecimal bd = new BigDecimal("-12.340");
    UUID uuid = new UUID(0x0123456789abcdefL, -1L); BitSet bits = BitSet.valueOf(new long[] {5, 1}); URI uri = URI.create("http://acme.com/a");
    Color color = Color.GREEN; Color none = null; Object any = 5L; Object text = s("t");
    Base base = new Base(7); Base sub = new Sub(8, s("m")); Fin fin = new Fin(9); Fin noFin = null;
  }

  static class Times {
    Date date = new Date(1700000000123L); Date old = new Date(-5);
    Instant instant = Instant.ofEpochSecond(1700000000L, 123456789); Instant early = Instant.ofEpochSecond(-5, 7); Instant none = null;
    Duration duration = Duration.ofSeconds(-3, 5); LocalDate day = LocalDate.of(2024, 2, 29);
    LocalTime hour = LocalTime.of(0, 0); LocalTime minute = LocalTime.of(12, 30); LocalTime second = LocalTime.of(1, 0, 59); LocalTime nano = LocalTime.of(23, 59, 58, 7);
    LocalDateTime both = LocalDateTime.of(1999, 12, 31, 23, 0, 1, 5);
    java.sql.Date sqlDate = new java.sql.Date(86400000L); java.sql.Time sqlTime = new java.sql.Time(3600000L);
    java.sql.Timestamp stamp = java.sql.Timestamp.from(Instant.ofEpochSecond(1700000000L, 123456789));
  }

  static class Collections {
    List<String> ls = list(s("x"), null, s("y")); List<Integer> li = list(1, 2); List<Item> items = list(new Item(s("i"), 1), new Item(s("j"), 2));
    List<Base> mixed = list(new Base(1), new Sub(2, s("s"))); List<Fin> fins = list(new Fin(1), null); List<Color> colors = list(Color.RED, Color.BLUE);
    List<List<String>> nested = list(list(s("n1")), new ArrayList<>()); List<UUID> uuids = list(new UUID(1, 2)); List<BigDecimal> bds = list(new BigDecimal("1.5"));
    List<int[]> arrays = list(new int[] {7}); List raw = list(s("r"), 1, 2L); List<Object> objects = list(1.5, null); Collection<String> coll = list(s("c"));
    Set<String> tree = new TreeSet<>(list(s("b"), s("a"))); Set<Long> hs = new HashSet<>(list(5L));
    LinkedList<Long> linked = new LinkedList<>(list(1L)); ArrayDeque<String> deque = new ArrayDeque<>(list(s("d")));
    Map<String, Integer> msi = map(s("a"), 1); Map<String, List<Integer>> msl = map(s("k"), list(1, 2)); Map<Long, Item> mli = new TreeMap<>(map(3L, new Item(s("m"), 4)));
    Map<Color, Integer> byColor = map(Color.BLUE, 3); Map<String, Map<String, Long>> deep = map(s("o"), map(s("i"), 1L));
  }

  static class Shared { String a = "same"; String b = a; List<String> l = list(a, s("o")); }
  static class Twice { Item i = new Item(s("it"), 1); Item j = i; }

  static String s(String text) { return new String(text); }
  @SafeVarargs static <T> List<T> list(T... elements) { return new ArrayList<>(Arrays.asList(elements)); }
  static <K, V> Map<K, V> map(K key, V value) { Map<K, V> map = new LinkedHashMap<>(); map.put(key, value); return map; }

  static <T> void dump(String name, Class<T> type, T value) throws Exception {
    DataOutputSerializer out = new DataOutputSerializer(64);
    new GenericTypeInfo<>(type).createSerializer(new SerializerConfigImpl()).serialize(value, out);
    StringBuilder hex = new StringBuilder();
    for (byte b : out.getCopyOfBuffer()) hex.append(String.format("%02x", b));
    System.out.println(name + "\t" + hex);
  }

  public static void main(String[] args) throws Exception {
    dump("Fields", Fields.class, new Fields());
    dump("Times", Times.class, new Times());
    dump("Collections", Collections.class, new Collections());
    dump("Shared", Shared.class, new Shared());
    dump("Twice", Twice.class, new Twice());
    dump("Base", Base.class, new Sub(1, s("m")));
  }
}
