package dev.verbatim.shuffle;

import dev.verbatim.shuffle.conf.ConfigEntry;
import dev.verbatim.shuffle.conf.RdmaConf;
import dev.verbatim.shuffle.fallback.FallbackReason;
import dev.verbatim.shuffle.metrics.ShuffleMetric;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;

/** Writes tables into the documentation, between the marker lines that a page has. */
public final class ReferencePage {
  private ReferencePage() {}

  /** Rewrites the tables in the file that the first argument names. */
  public static void main(String[] args) throws IOException {
    Path page = Path.of(args[0]);
    Files.writeString(page, update(Files.readString(page)));
  }

  static String update(String page) {
    Map<String, String> sections =
        Map.of("settings", settings(), "reasons", reasons(), "metrics", metrics());
    String updated = page;
    int found = 0;
    for (Map.Entry<String, String> section : sections.entrySet()) {
      if (page.contains(begin(section.getKey()))) {
        updated = replace(updated, section.getKey(), section.getValue());
        found++;
      }
    }
    if (found == 0) {
      throw new IllegalArgumentException("no marker lines");
    }
    return updated;
  }

  private static String begin(String section) {
    return "<!-- " + section + ": begin (generated) -->\n";
  }

  private static String replace(String page, String section, String text) {
    String begin = begin(section);
    int from = page.indexOf(begin);
    int to = page.indexOf("<!-- " + section + ": end -->");
    if (to < from) {
      throw new IllegalArgumentException("no end of section " + section);
    }
    return page.substring(0, from + begin.length()) + text + page.substring(to);
  }

  private static String settings() {
    StringBuilder table = new StringBuilder();
    row(table, "`spark.shuffle.rdma.`", "type", "default", "range", "meaning");
    row(table, "---", "---", "---", "---", "---");
    for (ConfigEntry<?> entry : RdmaConf.entries()) {
      String value = entry.defaultText().isEmpty() ? "(empty)" : code(entry.defaultText());
      String name = entry.sparkKey().substring(RdmaConf.SPARK_PREFIX.length());
      row(table, code(name), entry.type(), value, entry.range(), entry.doc());
    }
    return table.toString();
  }

  private static String reasons() {
    StringBuilder table = new StringBuilder();
    row(table, "reason", "holds for", "meaning", "what would help");
    row(table, "---", "---", "---", "---");
    for (FallbackReason reason : FallbackReason.values()) {
      String scope = reason.scope().name().toLowerCase(Locale.ROOT);
      row(table, code(reason.name()), scope, reason.meaning(), reason.remedy());
    }
    return table.toString();
  }

  private static String metrics() {
    StringBuilder table = new StringBuilder();
    row(table, "metric", "kind", "unit", "what");
    row(table, "---", "---", "---", "---");
    for (ShuffleMetric metric : ShuffleMetric.values()) {
      String kind = metric.kind().name().toLowerCase(Locale.ROOT);
      row(table, code(metric.text()), kind, metric.unit(), metric.doc());
    }
    return table.toString();
  }

  private static String code(String text) {
    return "`" + text + "`";
  }

  private static void row(StringBuilder table, String... cells) {
    table.append("| ").append(String.join(" | ", cells)).append(" |\n");
  }
}
