package dev.verbatim.examples;

import dev.verbatim.examples.report.TextTable;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Prints comparisons for people. */
final class ComparisonTable {
  private static final String NOT_COUNTED = "n/a";

  private ComparisonTable() {}

  /** The table, one line per job and one for all of them, each ended by a line feed. */
  static String format(String reference, String other, List<Comparison> comparisons) {
    List<List<String>> lines = new ArrayList<>();
    lines.add(
        List.of(
            "job",
            "rows",
            reference + " s",
            other + " s",
            "ratio",
            "shuffled",
            "remote",
            "by RDMA",
            "by TCP",
            "result"));
    for (Comparison comparison : comparisons) {
      lines.add(line(comparison));
    }
    if (comparisons.size() > 1) {
      lines.add(line(total(comparisons)));
    }
    return TextTable.align(lines, 1, lines.getFirst().size() - 1);
  }

  private static Comparison total(List<Comparison> comparisons) {
    int rows = 0;
    double seconds = 0;
    double otherSeconds = 0;
    ShuffleBytes shuffle = ShuffleBytes.NONE;
    TransferBytes transfer = new TransferBytes(0, 0);
    long different = 0;
    for (Comparison one : comparisons) {
      rows += one.rows();
      seconds += one.seconds();
      otherSeconds += one.otherSeconds();
      shuffle = shuffle.plus(one.shuffle());
      transfer = sum(transfer, one.transfer());
      different += one.same() ? 0 : 1;
    }
    String difference = different == 0 ? null : different + " jobs";
    return new Comparison("all", rows, seconds, otherSeconds, shuffle, transfer, difference);
  }

  private static TransferBytes sum(TransferBytes a, TransferBytes b) {
    return a == null || b == null ? null : a.plus(b);
  }

  private static List<String> line(Comparison comparison) {
    TransferBytes transfer = comparison.transfer();
    return List.of(
        comparison.job(),
        String.format(Locale.ROOT, "%,d", comparison.rows()),
        oneDecimal(comparison.seconds()),
        oneDecimal(comparison.otherSeconds()),
        String.format(Locale.ROOT, "%.2f", comparison.otherSeconds() / comparison.seconds()),
        megabytes(comparison.shuffle().written()),
        megabytes(comparison.shuffle().remote()),
        transfer == null ? NOT_COUNTED : megabytes(transfer.rdma()),
        transfer == null ? NOT_COUNTED : megabytes(transfer.tcp()),
        comparison.same() ? "OK" : "DIFFERENT");
  }

  private static String oneDecimal(double value) {
    return String.format(Locale.ROOT, "%.1f", value);
  }

  private static String megabytes(long bytes) {
    return String.format(Locale.ROOT, "%,.1f MB", bytes / 1e6);
  }
}
