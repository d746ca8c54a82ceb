// Prints table_snapshots.tsv: kind, name and bytes of what Flink's Table runtime writes into serializer snapshots.
// Class path: flink-core, flink-runtime, flink-table-common, flink-table-runtime and flink-table-api-java of one
// version; run with --add-opens java.base/java.util=ALL-UNNAMED. The file joins the output of 2.3.0 and 1.20.5
// (table-runtime 1.20.4): its first column says which of them wrote the line.
import org.apache.flink.api.common.typeutils.*;
import org.apache.flink.api.common.typeutils.base.*;
import org.apache.flink.core.memory.*;
import org.apache.flink.table.types.logical.*;
import org.apache.flink.table.runtime.typeutils.*;
import org.apache.flink.table.api.DataTypes;
import org.apache.flink.table.dataview.*;
import org.apache.flink.util.InstantiationUtil;
import java.util.*;
public class TableSnapshots {
  static void type(String name, LogicalType t) throws Exception { System.out.println("type\t" + name + "\t" + hex(InstantiationUtil.serializeObject(t))); }
  static void snap(String name, TypeSerializer<?> s) throws Exception {
    DataOutputSerializer o = new DataOutputSerializer(64);
    TypeSerializerSnapshot.writeVersionedSnapshot(o, s.snapshotConfiguration());
    System.out.println("snapshot\t" + name + "\t" + hex(o.getCopyOfBuffer()));
  }
  static String hex(byte[] b) { StringBuilder s = new StringBuilder(); for (byte x : b) s.append(String.format("%02x", x)); return s.toString(); }
  public static void main(String[] a) throws Exception {
    type("CHAR(3)", new CharType(3)); type("STRING", VarCharType.STRING_TYPE); type("VARCHAR(5) NOT NULL", new VarCharType(false, 5));
    type("BOOLEAN", new BooleanType()); type("BINARY(4)", new BinaryType(4)); type("BYTES", new VarBinaryType(VarBinaryType.MAX_LENGTH));
    type("DECIMAL(10, 2)", new DecimalType(10, 2)); type("TINYINT", new TinyIntType()); type("SMALLINT", new SmallIntType());
    type("INT", new IntType()); type("INT NOT NULL", new IntType(false)); type("BIGINT", new BigIntType()); type("FLOAT", new FloatType()); type("DOUBLE", new DoubleType());
    type("DATE", new DateType()); type("TIME(3)", new TimeType(3)); type("TIMESTAMP(6)", new TimestampType(6));
    type("TIMESTAMP(3) *ROWTIME*", new TimestampType(true, TimestampKind.ROWTIME, 3));
    type("TIMESTAMP_LTZ(3) *PROCTIME*", new LocalZonedTimestampType(true, TimestampKind.PROCTIME, 3));
    type("TIMESTAMP(9) WITH TIME ZONE", new ZonedTimestampType(9));
    type("INTERVAL YEAR(2) TO MONTH", new YearMonthIntervalType(YearMonthIntervalType.YearMonthResolution.YEAR_TO_MONTH, 2));
    type("INTERVAL DAY(2) TO SECOND(6)", new DayTimeIntervalType(DayTimeIntervalType.DayTimeResolution.DAY_TO_SECOND, 2, 6));
    type("ARRAY<INT>", new ArrayType(new IntType())); type("MULTISET<STRING>", new MultisetType(VarCharType.STRING_TYPE));
    type("MAP<STRING, BIGINT NOT NULL>", new MapType(VarCharType.STRING_TYPE, new BigIntType(false)));
    type("NULL", new NullType());
    type("ROW<a INT, b ROW<c DECIMAL(30, 4), d ARRAY<TIMESTAMP(3)>> NOT NULL 'why'>", new RowType(Arrays.asList(
       new RowType.RowField("a", new IntType()),
       new RowType.RowField("b", new RowType(false, Arrays.asList(new RowType.RowField("c", new DecimalType(30, 4)), new RowType.RowField("d", new ArrayType(new TimestampType(3))))), "why"))));
    type("ROW<>", new RowType(Collections.emptyList()));
    try { for (String n : new String[]{"VariantType", "BitmapType", "DescriptorType"}) {
        LogicalType t = (LogicalType) Class.forName("org.apache.flink.table.types.logical." + n).getConstructor().newInstance();
        type(n.replace("Type", "").toUpperCase(), t); } } catch (ClassNotFoundException e) { }
    type("SYMBOL", new SymbolType<>());
    type("RAW", new RawType<>(UUID.class, (TypeSerializer) StringSerializer.INSTANCE));
    type("DISTINCT", DistinctType.newBuilder(org.apache.flink.table.catalog.ObjectIdentifier.of("cat", "db", "Money"), new DecimalType(10, 2)).build());
    type("STRUCTURED", StructuredType.newBuilder(org.apache.flink.table.catalog.ObjectIdentifier.of("cat", "db", "User"))
        .attributes(Arrays.asList(new StructuredType.StructuredAttribute("name", VarCharType.STRING_TYPE), new StructuredType.StructuredAttribute("age", new IntType(false)))).build());
    type("STRUCTURED class", StructuredType.newBuilder(Locale.class)
        .attributes(Arrays.asList(new StructuredType.StructuredAttribute("lang", VarCharType.STRING_TYPE))).build());
    snap("RowData(BIGINT, STRING, DECIMAL(10, 2), TIMESTAMP(3))", new RowDataSerializer(new BigIntType(), VarCharType.STRING_TYPE, new DecimalType(10, 2), new TimestampType(3)));
    snap("RowData(ROW<x BOOLEAN, y BYTES>)", new RowDataSerializer(new RowType(Arrays.asList(new RowType.RowField("x", new BooleanType()), new RowType.RowField("y", new VarBinaryType(VarBinaryType.MAX_LENGTH))))));
    snap("RowData(ARRAY<INT>, MAP<STRING, ROW<a DOUBLE>>, MULTISET<STRING>)", new RowDataSerializer(new ArrayType(new IntType()), new MapType(VarCharType.STRING_TYPE, new RowType(Arrays.asList(new RowType.RowField("a", new DoubleType())))), new MultisetType(VarCharType.STRING_TYPE)));
    snap("ArrayData(ROW<a ARRAY<STRING>>)", new ArrayDataSerializer(new RowType(Arrays.asList(new RowType.RowField("a", new ArrayType(VarCharType.STRING_TYPE))))));
    snap("MapData(STRING, BIGINT)", new MapDataSerializer(VarCharType.STRING_TYPE, new BigIntType()));
    snap("BinaryRowData(3)", new BinaryRowDataSerializer(3));
    snap("DecimalData(30, 4)", new DecimalDataSerializer(30, 4));
    snap("TimestampData(9)", new TimestampDataSerializer(9));
    snap("RawValueData(Int)", new RawValueDataSerializer<>(IntSerializer.INSTANCE));
    snap("LinkedList(Int)", new LinkedListSerializer<>(IntSerializer.INSTANCE));
    snap("External(ROW<a INT, b STRING>)", ExternalSerializer.of(DataTypes.ROW(DataTypes.FIELD("a", DataTypes.INT()), DataTypes.FIELD("b", DataTypes.STRING()))));
    snap("WindowKey(RowData(INT))", new WindowKeySerializer(new RowDataSerializer(new IntType())));
    snap("SortedMap(Int, String)", new SortedMapSerializer<>(new MyCmp(), IntSerializer.INSTANCE, StringSerializer.INSTANCE));
    snap("ListView(Int)", new ListViewSerializer<>(new ListSerializer<>(IntSerializer.INSTANCE)));
    snap("MapView(Int, String)", new MapViewSerializer<>(new MapSerializer<>(IntSerializer.INSTANCE, StringSerializer.INSTANCE)));
    snap("NullAwareMap(Int, String)", new NullAwareMapSerializer<>(IntSerializer.INSTANCE, StringSerializer.INSTANCE));
    snap("Null", NullSerializer.INSTANCE);
  }
  static class MyCmp implements Comparator<Integer>, java.io.Serializable { private static final long serialVersionUID = 7L; public int compare(Integer a, Integer b) { return a - b; } public boolean equals(Object o) { return o instanceof MyCmp; } }
}
