package dev.verbatim.shuffle.ui;

import java.util.Comparator;
import java.util.Map;
import java.util.function.Function;
import java.util.function.ToLongFunction;
import org.apache.spark.util.Utils;
import scala.xml.Node;

/**
 * One column of a table.
 *
 * @param title its header, by which it is sorted too
 * @param tooltip what it means
 * @param order of the rows when they are sorted by it; null if they cannot be
 * @param cell what it shows of a row
 */
record Column<T>(String title, String tooltip, Comparator<T> order, Function<T, Node> cell) {

  boolean isSortable() {
    return order != null;
  }

  static <T> Column<T> text(String title, String tooltip, Function<T, String> value) {
    return new Column<>(
        title, tooltip, Comparator.comparing(value), row -> Tag.text("td", value.apply(row)));
  }

  static <T> Column<T> number(String title, String tooltip, ToLongFunction<T> value) {
    return new Column<>(
        title,
        tooltip,
        Comparator.comparingLong(value),
        row -> Tag.text("td", Long.toString(value.applyAsLong(row))));
  }

  /** The exact number is to be seen when the mouse is over it. */
  static <T> Column<T> bytes(String title, String tooltip, ToLongFunction<T> value) {
    return new Column<>(
        title,
        tooltip,
        Comparator.comparingLong(value),
        row -> {
          long bytes = value.applyAsLong(row);
          return Tag.of("td")
              .with("title", bytes + " bytes")
              .with("class", "text-nowrap")
              .add(Utils.bytesToString(bytes))
              .node();
        });
  }

  /** Counts by reason, with what the reason means and its remedy. */
  static <T> Column<T> reasons(
      String title, String tooltip, Function<T, Map<String, Long>> counts) {
    return new Column<>(
        title,
        tooltip,
        Comparator.comparingLong(row -> Reasons.sum(counts.apply(row))),
        row -> {
          Tag cell = Tag.of("td");
          counts
              .apply(row)
              .forEach(
                  (reason, count) ->
                      cell.add(
                          Tag.of("div")
                              .with("title", Reasons.explained(reason))
                              .with("class", "text-nowrap")
                              .add(reason + ": " + count)
                              .node()));
          return cell.node();
        });
  }
}
