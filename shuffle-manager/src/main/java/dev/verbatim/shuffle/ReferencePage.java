package dev.verbatim.shuffle;

import dev.verbatim.shuffle.conf.ConfigEntry;
import dev.verbatim.shuffle.conf.RdmaConf;
import dev.verbatim.shuffle.fallback.FallbackReason;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

/** Writes the tables of settings and of reasons into the documentation, between marker lines. */
public final class ReferencePage {
  private ReferencePage() {}

  /** Rewrites the tables in the file that the first argument names. */
  public static void main(String[] args) throws IOException {
    Path page = Path.of(args[0]);
    Files.writeString(page, update(Files.readString(page)));
  }

  static String update(String page) {
    return replace(replace(page, "settings", settings()), "reasons", reasons());
  }

  private static String replace(String page, String section, String text) {
    String begin = "<!-- " + section + ": begin (generated) -->\n";
    int from = page.indexOf(begin);
    int to = page.indexOf("<!-- " + section + ": end -->");
    if (from < 0 || to < from) {
      throw new IllegalArgumentException("no marker lines of section " + section);
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

  private static String code(String text) {
    return "`" + text + "`";
  }

  private static void row(StringBuilder table, String... cells) {
    table.append("| ").append(String.join(" | ", cells)).append(" |\n");
  }
}
