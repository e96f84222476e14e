package dev.verbatim.examples;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Compares two results without regard to the order of rows; each row must occur equally often.
 *
 * <p>Values are compared exactly, but for DOUBLE and FLOAT: their sums depend on the order in which
 * blocks arrive, so they may differ by {@value #TOLERANCE} of their size.
 */
final class ResultComparison {
  static final double TOLERANCE = 1e-9;
  private static final int SHOWN_ROWS = 3;

  private ResultComparison() {}

  /** What differs, in one or a few lines; empty if nothing does. */
  static Optional<String> difference(JobResult expected, JobResult actual) {
    if (!expected.types().equals(actual.types())) {
      return Optional.of("columns " + expected.types() + " became " + actual.types());
    }
    Map<List<String>, List<List<String>>> open = new HashMap<>();
    for (List<String> row : expected.rows()) {
      open.computeIfAbsent(exactCells(expected, row), _ -> new ArrayList<>()).add(row);
    }
    List<List<String>> unexpected = new ArrayList<>();
    for (List<String> row : actual.rows()) {
      if (!removeEqual(open.getOrDefault(exactCells(actual, row), List.of()), row, expected)) {
        unexpected.add(row);
      }
    }
    List<List<String>> missing = open.values().stream().flatMap(List::stream).toList();
    if (missing.isEmpty() && unexpected.isEmpty()) {
      return Optional.empty();
    }
    return Optional.of(
        "%d rows became %d; %d missing%s; %d unexpected%s"
            .formatted(
                expected.rows().size(),
                actual.rows().size(),
                missing.size(),
                some(missing),
                unexpected.size(),
                some(unexpected)));
  }

  private static List<String> exactCells(JobResult result, List<String> row) {
    List<String> exact = new ArrayList<>();
    for (int i = 0; i < row.size(); i++) {
      if (!result.isFloating(i)) {
        exact.add(row.get(i));
      }
    }
    return exact;
  }

  private static boolean removeEqual(
      List<List<String>> candidates, List<String> row, JobResult columns) {
    Iterator<List<String>> rows = candidates.iterator();
    while (rows.hasNext()) {
      if (floatingCellsAgree(rows.next(), row, columns)) {
        rows.remove();
        return true;
      }
    }
    return false;
  }

  private static boolean floatingCellsAgree(List<String> a, List<String> b, JobResult columns) {
    for (int i = 0; i < a.size(); i++) {
      if (columns.isFloating(i) && !agree(a.get(i), b.get(i))) {
        return false;
      }
    }
    return true;
  }

  private static boolean agree(String a, String b) {
    if (a == null || b == null || a.equals(b)) {
      return a == null ? b == null : a.equals(b);
    }
    double x = Double.parseDouble(a);
    double y = Double.parseDouble(b);
    return Math.abs(x - y) <= TOLERANCE * Math.max(Math.abs(x), Math.abs(y));
  }

  private static String some(List<List<String>> rows) {
    if (rows.isEmpty()) {
      return "";
    }
    List<List<String>> first = rows.subList(0, Math.min(SHOWN_ROWS, rows.size()));
    return " " + first + (rows.size() > SHOWN_ROWS ? " ..." : "");
  }
}
