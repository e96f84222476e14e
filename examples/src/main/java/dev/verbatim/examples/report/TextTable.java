package dev.verbatim.examples.report;

import java.util.List;

/** Tables for terminals. */
public final class TextTable {
  private TextTable() {}

  /** Aligns columns by spaces, all to the left; each line ends with a line feed. */
  public static String align(List<List<String>> lines) {
    return align(lines, lines.getFirst().size(), lines.getFirst().size());
  }

  /**
   * Aligns columns by spaces, to the left but for those of numbers.
   *
   * @param from first column of numbers
   * @param to the column after the last of numbers
   */
  public static String align(List<List<String>> lines, int from, int to) {
    int[] widths = new int[lines.getFirst().size()];
    for (List<String> line : lines) {
      for (int i = 0; i < widths.length; i++) {
        widths[i] = Math.max(widths[i], line.get(i).length());
      }
    }
    StringBuilder text = new StringBuilder();
    for (List<String> line : lines) {
      StringBuilder row = new StringBuilder();
      for (int i = 0; i < widths.length; i++) {
        String padding = " ".repeat(widths[i] - line.get(i).length());
        boolean right = i >= from && i < to;
        row.append(i == 0 ? "" : "  ");
        row.append(right ? padding + line.get(i) : line.get(i) + padding);
      }
      text.append(row.toString().stripTrailing()).append('\n');
    }
    return text.toString();
  }
}
