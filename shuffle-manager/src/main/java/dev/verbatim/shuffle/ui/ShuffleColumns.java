package dev.verbatim.shuffle.ui;

import java.util.List;

/** Columns of the table of shuffles. */
final class ShuffleColumns {
  private ShuffleColumns() {}

  static List<Column<ShuffleRow>> all() {
    return List.of(
        Column.number("Shuffle ID", "Spark's id of the shuffle", ShuffleRow::id),
        Column.text(
            "Status",
            "Removed once Spark has: then the rest is how it was",
            row -> row.live() ? "Live" : "Removed"),
        Column.number("Registered Outputs", "Map outputs that can be READ", ShuffleRow::registered),
        Column.bytes("Registered Data", "Data of these map outputs", ShuffleRow::bytes),
        Column.number("Outputs left to TCP", "Map outputs not registered", ShuffleRow::leftToTcp),
        Column.reasons("Reasons", "Why they were not registered", ShuffleRow::declined));
  }
}
