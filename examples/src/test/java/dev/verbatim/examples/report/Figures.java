package dev.verbatim.examples.report;

import java.util.List;
import java.util.stream.Stream;

/** Figures for tests. */
final class Figures {
  private Figures() {}

  static Figure compared(List<Double> ours, List<Double> against, String... goals) {
    return new Figure(
        "table-bytes",
        "bytes of a table",
        "bytes",
        new Figure.Side("verbatim", ours),
        new Figure.Side("spark", against),
        Stream.of(goals).map(Goal::parse).toList(),
        "simulated clients",
        null);
  }

  static Figure alone(double value) {
    return new Figure(
        "heap",
        "heap per map output",
        "bytes",
        new Figure.Side("verbatim", List.of(value)),
        null,
        null,
        null,
        null);
  }

  static Figure point(double at, double ours, double against) {
    return new Figure(
        "bytes-by-maps",
        "bytes of a table",
        "bytes",
        new Figure.Side("verbatim", List.of(ours)),
        new Figure.Side("spark", List.of(against)),
        null,
        null,
        new Figure.Point("Bytes by maps", "maps", at));
  }
}
