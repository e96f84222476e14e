package dev.verbatim.bench.registry;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What one side took, by the name of what was measured, in each round. */
final class Costs {
  private final Map<String, List<Double>> values = new LinkedHashMap<>();

  void add(String name, double value) {
    values.computeIfAbsent(name, key -> new ArrayList<>()).add(value);
  }

  List<Double> get(String name) {
    return values.get(name);
  }

  @Override
  public String toString() {
    StringBuilder last = new StringBuilder();
    values.forEach((name, rounds) -> last.append(" %s %,.1f".formatted(name, rounds.getLast())));
    return last.toString();
  }
}
