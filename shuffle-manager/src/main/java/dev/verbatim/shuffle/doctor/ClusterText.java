package dev.verbatim.shuffle.doctor;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Writes a report of a cluster for people: one table of checks with the number of executors by
 * verdict, then what is not as it should be, once for all executors that have it.
 */
final class ClusterText {
  private static final String ROW = "  %-14s %6s %8s %8s %8s  %s%n";
  private static final int MOST_NAMES = 6;

  private ClusterText() {}

  static String of(ClusterReport report) {
    StringBuilder text = new StringBuilder();
    int executors = report.executors().size();
    text.append(
        "%d executor%s: %s%n%n".formatted(executors, executors == 1 ? "" : "s", report.verdict()));
    table(report.executors(), text);
    findings(report.executors(), text);
    ReportText.append(text, report.cluster());
    return text.toString();
  }

  private static void table(List<Report> executors, StringBuilder text) {
    text.append(ROW.formatted("check", "OK", "UNKNOWN", "WARNING", "PROBLEM", "not OK on"));
    List<String> checks =
        executors.stream()
            .flatMap(report -> report.findings().stream())
            .map(Finding::check)
            .distinct()
            .toList();
    for (String check : checks) {
      Map<Verdict, Integer> counts = new EnumMap<>(Verdict.class);
      List<String> others = new ArrayList<>();
      for (Report report : executors) {
        List<Finding> own =
            report.findings().stream().filter(f -> f.check().equals(check)).toList();
        if (!own.isEmpty()) {
          Verdict verdict = Report.worst(own);
          counts.merge(verdict, 1, Integer::sum);
          if (verdict != Verdict.OK) {
            others.add(name(report));
          }
        }
      }
      text.append(
          ROW.formatted(
                  check,
                  number(counts, Verdict.OK),
                  number(counts, Verdict.UNKNOWN),
                  number(counts, Verdict.WARNING),
                  number(counts, Verdict.PROBLEM),
                  names(others, executors.size()))
              .replaceAll("\\s+$", System.lineSeparator()));
    }
  }

  private static String number(Map<Verdict, Integer> counts, Verdict verdict) {
    return counts.containsKey(verdict) ? counts.get(verdict).toString() : "";
  }

  private static String name(Report report) {
    return report.executor() + "@" + report.host();
  }

  private static String names(List<String> names, int all) {
    if (names.size() == all && all > 1) {
      return "all";
    }
    String first = names.stream().limit(MOST_NAMES).collect(Collectors.joining(" "));
    return names.size() > MOST_NAMES
        ? first + " and " + (names.size() - MOST_NAMES) + " more"
        : first;
  }

  /** The worst first; the same of several executors once, and together what the same ones have. */
  private static void findings(List<Report> executors, StringBuilder text) {
    Map<Finding, List<String>> where = new LinkedHashMap<>();
    for (Report report : executors) {
      for (Finding finding : report.findings()) {
        if (finding.verdict() != Verdict.OK) {
          where.computeIfAbsent(finding, _ -> new ArrayList<>()).add(name(report));
        }
      }
    }
    Map<List<String>, List<Finding>> together = new LinkedHashMap<>();
    where.keySet().stream()
        .sorted(Comparator.comparing(Finding::verdict).reversed())
        .forEach(
            finding ->
                together.computeIfAbsent(where.get(finding), _ -> new ArrayList<>()).add(finding));
    together.forEach(
        (names, findings) -> {
          text.append("%n%s%n".formatted(names(names, executors.size())));
          ReportText.append(text, findings);
        });
    text.append(System.lineSeparator());
  }
}
