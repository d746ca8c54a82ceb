package org.example.shop

import java.time.Instant
import org.example.lab.T

/** Classes as Scala jobs keep them. */
case class Item(sku: String, count: Int)

case class Order(
    id: Long,
    item: Item,
    note: Option[String],
    gift: Option[Item],
    tags: Seq[String],
    prices: Map[String, Int],
    parts: Array[Item],
    status: Status.Value,
    discount: Either[String, Int],
    at: Instant,
    buyer: T.Person)

case class Box[A](content: A, more: List[A], maybe: Option[A])

case class Empty()

case class Wide(
    a: Byte, b: Short, c: Char, d: Float, e: Double, f: Boolean, g: Unit, h: java.math.BigDecimal, i: Array[Byte],
    j: Integer, k: (Int, Long), l: Array[String], m: T.Color)

object Status extends Enumeration {
  val Open, Paid = Value
  val Sent = Value("Sent out")
}

sealed trait Payment
case class Card(number: String) extends Payment
case object Cash extends Payment

case class Paid(id: Long, payment: Payment)
