package dev.verbatim.shuffle.doctor;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Writes a report for people: a line for each finding, and below it what is needed and the cure.
 */
final class ReportText {
  private static final String LINE = "  %-8s %-15s %s%n";
  private static final String INDENT = " ".repeat(27);

  private ReportText() {}

  static String of(Report report) {
    StringBuilder text = new StringBuilder();
    text.append("%s: %s%n".formatted(report.host(), summary(report)));
    append(text, report.findings());
    return text.toString();
  }

  static void append(StringBuilder text, List<Finding> findings) {
    Map<String, List<String>> notSeen = new LinkedHashMap<>();
    for (Finding finding : findings) {
      if (isNotSeen(finding)) {
        notSeen.computeIfAbsent(finding.seen(), _ -> new ArrayList<>()).add(finding.check());
      } else {
        append(text, finding);
      }
    }
    notSeen.forEach(
        (why, checks) ->
            text.append(
                LINE.formatted(Verdict.UNKNOWN, "", why + ": " + String.join(", ", checks))));
  }

  /** Without a device many are not, all for the same reason: that is said once. */
  private static boolean isNotSeen(Finding finding) {
    return finding.verdict() == Verdict.UNKNOWN
        && finding.subject().isEmpty()
        && finding.cure().isEmpty();
  }

  private static void append(StringBuilder text, Finding finding) {
    String subject = finding.subject().isEmpty() ? "" : finding.subject() + ": ";
    text.append(
        LINE.formatted(finding.verdict(), finding.check(), subject + oneLine(finding.seen())));
    appendDetail(text, "needed: ", finding.needed());
    appendDetail(text, "cure: ", finding.cure());
  }

  private static void appendDetail(StringBuilder text, String what, String detail) {
    if (!detail.isEmpty()) {
      text.append(INDENT).append(what).append(oneLine(detail)).append(System.lineSeparator());
    }
  }

  private static String oneLine(String text) {
    return text.replaceAll("\\s*\\R\\s*", " ");
  }

  /** For example {@code 2 problems, 1 warning, 20 fine, 1 not seen}. */
  private static String summary(Report report) {
    List<String> parts = new ArrayList<>();
    parts.add(number(report.count(Verdict.PROBLEM), "problem", "problems"));
    parts.add(number(report.count(Verdict.WARNING), "warning", "warnings"));
    parts.add(number(report.count(Verdict.OK), "fine", "fine"));
    parts.add(number(report.count(Verdict.UNKNOWN), "not seen", "not seen"));
    return report.verdict() + " (" + String.join(", ", parts) + ")";
  }

  private static String number(long count, String one, String many) {
    return String.format(Locale.ROOT, "%d %s", count, count == 1 ? one : many);
  }
}
