package dev.verbatim.examples;

import dev.verbatim.examples.report.TextTable;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Prints a comparison for people. */
final class ComparisonTable {
  private static final String NOTHING = "n/a";

  private static final String ONE_ROUND =
      "Times are of one round, which says nothing of which is faster: --rounds 3 or more does\n";

  private ComparisonTable() {}

  /**
   * One line per job, one for all of them, and each problem, each ended by a line feed. Bytes are
   * the mean of a round, of the manager that is compared with the reference.
   */
  static String format(Comparison comparison) {
    List<List<String>> lines = new ArrayList<>();
    lines.add(
        List.of(
            "job",
            "rows",
            comparison.reference() + " s",
            comparison.other() + " s",
            "ratio",
            "shuffled",
            "remote",
            "by RDMA",
            "by TCP",
            "result"));
    comparison.jobs().forEach(job -> lines.add(line(job)));
    StringBuilder text = new StringBuilder(TextTable.align(lines, 1, lines.getFirst().size() - 1));
    text.append(overall(comparison));
    for (JobComparison job : comparison.jobs()) {
      for (JobComparison.Problem problem : job.problems()) {
        text.append(
            "%s, %s, round %d, %s: %s%n"
                .formatted(
                    job.job(),
                    problem.manager(),
                    problem.round(),
                    problem.failed() ? "failed" : "result differs from the first one",
                    problem.text()));
      }
    }
    return text.toString();
  }

  /** What all jobs come to, in one line, and one more where it says little of time. */
  static String overall(Comparison comparison) {
    Comparison.Overall all = comparison.overall();
    if (all.jobs() == 0) {
      return "No job was run under both.\n";
    }
    boolean once =
        comparison.jobs().stream()
            .filter(JobComparison::compared)
            .allMatch(job -> job.other().times().size() == 1);
    return String.format(
        Locale.ROOT,
        "%d of %d jobs were run under both: %s %.1f s, %s %.1f s, ratio of the sums %.2f, geometric"
            + " mean of the ratios %.2f%n%s",
        all.jobs(),
        comparison.jobs().size(),
        comparison.reference(),
        all.seconds(),
        comparison.other(),
        all.otherSeconds(),
        all.otherSeconds() / all.seconds(),
        all.geometricMean(),
        once ? ONE_ROUND : "");
  }

  private static List<String> line(JobComparison job) {
    JobSide other = job.other();
    TransferBytes transfer = other == null ? null : other.transfer();
    return List.of(
        job.job(),
        job.rows() == null ? NOTHING : String.format(Locale.ROOT, "%,d", job.rows()),
        other == null ? NOTHING : decimals(1, job.reference().seconds().median()),
        other == null ? NOTHING : decimals(1, other.seconds().median()),
        other == null ? NOTHING : decimals(2, job.ratio().median()),
        other == null ? NOTHING : megabytes(other, other.shuffle().written()),
        other == null ? NOTHING : megabytes(other, other.shuffle().remote()),
        transfer == null ? NOTHING : megabytes(other, transfer.rdma()),
        transfer == null ? NOTHING : megabytes(other, transfer.tcp()),
        job.outcome().text());
  }

  private static String decimals(int count, double value) {
    return String.format(Locale.ROOT, "%." + count + "f", value);
  }

  private static String megabytes(JobSide side, long bytes) {
    return String.format(Locale.ROOT, "%,.1f MB", side.megabytes(bytes));
  }
}
