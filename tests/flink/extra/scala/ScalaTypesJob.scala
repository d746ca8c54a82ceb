package org.statelift.harness

import org.apache.flink.api.common.typeinfo.TypeInformation
import org.apache.flink.api.scala._
import org.example.shop._
import scala.collection.JavaConverters._

/** State of every type that Flink's Scala API has serializers of its own for, and operators keyed by such types. */
final class ScalaTypesJob
    extends TypesFamily(ScalaTypesJob.cases, java.util.List.of(), ScalaTypesJob.choice, ScalaTypesJob.byKeys)

object ScalaTypesJob {

  private lazy val cases: java.util.List[TypeCase[_]] = ScalaCases.all.asJava

  private val choice = new TypesFamily.Choice(
    java.util.Set.of(),
    ScalaCases.opaque.map(_.name).asJava,
    Seq("item", "order", "pair_of_numbers", "option", "either", "list", "map").asJava)

  private def byKeys = Seq(
    by("item", Item("a", 1), Item(null, -1)),
    by("pair", ("a", 1), ("b", -1)),
    by("pair_of_numbers", (1, 2L), (-1, Long.MinValue)),
    by("nested", (1L, Item("a", 1), Option("x")), (2L, Item("b", 2), None)),
    by[Option[String]]("option", Some("a"), None),
    by("list", List(1, 2), Nil),
    by("string", "", "a"),
    by("enumeration", Status.Open, Status.Sent)).asJava

  private def by[K: TypeInformation](name: String, keys: K*): TypesFamily.KeyedOperator =
    KeyCases.shown[K](name, implicitly[TypeInformation[K]], ScalaJson.shown, keys: _*)
}
