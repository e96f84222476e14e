package dev.verbatim.shuffle.ui;

import java.util.ArrayList;
import java.util.List;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;
import scala.xml.Elem;
import scala.xml.MetaData;
import scala.xml.Node;
import scala.xml.Null$;
import scala.xml.Text;
import scala.xml.TopScope$;
import scala.xml.UnprefixedAttribute;

/** An HTML element in the making. Text and values of attributes are escaped by Scala's library. */
final class Tag {
  private final String name;
  private final List<Node> children = new ArrayList<>();
  private MetaData attributes = Null$.MODULE$;

  private Tag(String name) {
    this.name = name;
  }

  static Tag of(String name) {
    return new Tag(name);
  }

  /** An element with text in it. */
  static Node text(String name, String text) {
    return of(name).add(text).node();
  }

  Tag with(String attribute, String value) {
    attributes = new UnprefixedAttribute(attribute, value, attributes);
    return this;
  }

  Tag add(String text) {
    children.add(new Text(text));
    return this;
  }

  Tag add(Node child) {
    children.add(child);
    return this;
  }

  Tag addAll(Seq<Node> nodes) {
    children.addAll(CollectionConverters.asJava(nodes));
    return this;
  }

  Node node() {
    return new Elem(null, name, attributes, TopScope$.MODULE$, false, seq(children));
  }

  static <T> Seq<T> seq(T only) {
    return seq(List.of(only));
  }

  static <T> Seq<T> seq(List<T> items) {
    return CollectionConverters.asScala(items).toSeq();
  }
}
