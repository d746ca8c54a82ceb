package org.statelift.harness

import java.util.function.{Function => JFunction}
import org.apache.flink.api.common.typeinfo.TypeInformation
import org.apache.flink.api.java.tuple.{Tuple2 => JTuple2}
import org.apache.flink.api.scala._
import org.example.lab.T
import org.example.shop._
import scala.collection.JavaConverters._
import scala.collection.immutable.{BitSet, SortedMap, SortedSet}
import scala.collection.mutable
import scala.util.{Failure, Success, Try}

/** Types that Flink's Scala API makes serializers of its own for, and values of them. */
object ScalaCases {

  private val UNICODE = CoreCases.UNICODE

  private val item = Item("sku-1", 3)
  private val bare = Item(null, 0)

  def all: Seq[TypeCase[_]] = caseClasses ++ tuples ++ choices ++ collections ++ arrays ++ opaque

  private def of[A: TypeInformation](name: String, values: A*): TypeCase[A] =
    new TypeCase[A](
      name, implicitly[TypeInformation[A]], null, ScalaJson.shown, false, new java.util.ArrayList(values.asJava))

  private def caseClasses = Seq[TypeCase[_]](
    of("item", item, bare, Item(UNICODE, Int.MinValue)).hashing,
    of("order", order(Some("now"), Some(item)), order(None, None)),
    of("box_of_ints", Box(1, List(2, -3), Some(4)), Box(-1, Nil, None)).hashing,
    of("box_of_items", Box(item, List(bare), Some(item)), Box(bare, Nil, None)).hashing,
    of("empty", Empty()),
    of("wide", wide))

  def order(note: Option[String], gift: Option[Item]): Order = {
    val buyer = new T.Person
    buyer.name = note.orNull
    Order(
      7L, item, note, gift, Seq("t", UNICODE), Map("net" -> 1, "gross" -> -1), Array(item, bare), Status.Sent,
      note.toLeft(4), java.time.Instant.ofEpochSecond(-5, 7), buyer)
  }

  private def wide = Wide(
    -1, -2, 'é', 1.5f, Double.MinPositiveValue, true, (), new java.math.BigDecimal("1E+3"), Array[Byte](1, -1),
    Integer.valueOf(5), (1, 2L), Array("x", null), T.Color.GREEN)

  private def tuples = Seq[TypeCase[_]](
    of("pair", ("a", 1), (null, -1)).hashing,
    of("pair_of_numbers", (1, 2L), (Int.MinValue, Long.MaxValue)).hashing,
    of("pair_of_doubles", (1.5, -0d)).hashing,
    of("triple", ("a", Some(1): Option[Int], (2L, item))).hashing,
    of("single", Tuple1("alone")).hashing,
    of("tuple22", (1, "b", 3, "d", 5, "f", 7, "h", 9, "j", 11, "l", 13, "n", 15, "p", 17, "r", 19, "t", 21, "v")),
    of("java_tuple", JTuple2.of("j", item)))

  private def choices = Seq[TypeCase[_]](
    of[Option[Int]]("option", Some(5), None).hashing,
    of[Option[String]]("option_of_string", Some("s"), Some(""), None).hashing,
    of[Option[String]]("option_of_null", Some("s"), Some(null), None),
    of[Option[Option[Int]]]("nested_option", Some(Some(5)), Some(None), None).hashing,
    of[Option[Option[String]]]("nested_option_of_null", Some(Some("s")), Some(Some(null)), Some(None), None),
    of[Option[Item]]("option_of_item", Some(item), None).hashing,
    of[Option[List[Int]]]("option_of_list", Some(List(1)), Some(Nil), None),
    of[Option[Nothing]]("none", None),
    of[Some[Int]]("some", Some(3)),
    of[Either[String, Long]]("either", Left("l"), Right(-1L)).hashing,
    of[Either[Either[Int, Double], Option[Item]]](
      "nested_either", Left(Left(1)), Left(Right(-0d)), Right(Some(item)), Right(None)),
    of[Left[String, Long]]("left", Left("only")),
    of[Either[String, Nothing]]("either_of_nothing", Left("only")),
    of[Unit]("unit", ()),
    of[Option[Unit]]("option_of_unit", Some(()), None),
    of[Option[java.math.BigInteger]]("option_of_java", Some(java.math.BigInteger.TEN), Some(null), None),
    of[Status.Value]("enumeration", Status.Open, Status.Paid, Status.Sent).hashing,
    of[(Unit, Status.Value)]("unit_in_pair", ((), Status.Paid)))

  /** Flink compiles the code that builds a collection when it first meets its type, which takes a while for each. */
  private def collections = Seq[TypeCase[_]](
    of("list", List("a", "", UNICODE), List(null, "x"), Nil).hashing,
    of("nested_list", List(List(1), Nil), Nil),
    of("seq", Seq("s"), Seq()),
    of("vector", Vector(1, 2), Vector()).hashing,
    of("set", Set("a", "b", "c", "d", "e", UNICODE), Set[String]()),
    of("map", Map("a" -> 1, "b" -> 2), Map[String, Int]()),
    of("map_of_items", Map(item -> Seq(Some(1), None)), Map[Item, Seq[Option[Int]]]()),
    of("bit_set", BitSet(1, 200), BitSet()),
    of("options", Seq(Some(1), None, Some(2))),
    of("units", List((), ())),
    of("list_buffer", mutable.ListBuffer(1, 2)),
    of("mutable_map", mutable.Map("m" -> 1L)))

  private def arrays = Seq[TypeCase[_]](
    of("ints", Array(1, 2), Array[Int]()),
    of("bytes", Array[Byte](1, -1)),
    of("strings", Array("a", null, "")),
    of("items", Array(item, null), Array[Item]()),
    of("array_of_pairs", Array((1, 2L))),
    of("array_of_options", Array[Option[Int]](Some(1), None)),
    of("matrix", Array(Array(1, 2), Array[Int]())))

  def opaque = Seq[TypeCase[_]](
    of[Payment]("sealed_trait", Card("4111"), Cash),
    of("holds_sealed_trait", Paid(1, Card("4111")), Paid(2, Cash)),
    of[Try[Int]]("try", Success(1), Failure(new IllegalStateException("failed"))),
    of("big_decimal", BigDecimal("1.5")),
    of("sorted_set", SortedSet(3, 1, 2)),
    of("sorted_map", SortedMap("b" -> item, "a" -> bare)))
}

/** What the JSON of Scala's values is made of: case classes are tuples, all collections lists. */
object ScalaJson {

  def shown[A]: JFunction[A, AnyRef] = (value: A) => json(value)

  def json(value: Any): AnyRef = value match {
    case null | () => null
    case None => null
    case Some(inner @ (_: Option[_] | ())) => tagged("$tuple", Seq(inner))
    case Some(null) => tagged("$some", null)
    case Some(inner) => json(inner)
    case Left(left) => tagged("$left", left)
    case Right(right) => tagged("$right", right)
    case Success(result) => tagged("$success", result)
    case Failure(cause) => tagged("$failure", cause.toString)
    case constant: Enumeration#Value => tagged("$enum", constant.toString)
    case bytes: Array[Byte] => bytes
    case array: Array[_] => list(array)
    case elements: Traversable[_] => list(elements)
    case number: BigDecimal => number.bigDecimal
    case Cash => Cash.toString
    case parts: Product => tagged("$tuple", parts.productIterator.toSeq)
    case pair: JTuple2[_, _] => tagged("$tuple", Seq[Any](pair.f0, pair.f1))
    case other => other.asInstanceOf[AnyRef]
  }

  private def list(elements: Traversable[_]): AnyRef = elements.map(json).toList.asJava

  private def tagged(tag: String, value: Any): AnyRef = {
    val one = Json.`object`()
    one.replace(tag, Json.value(json(value)))
    one
  }
}
