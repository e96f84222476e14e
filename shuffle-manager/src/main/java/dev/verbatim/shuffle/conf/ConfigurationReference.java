package dev.verbatim.shuffle.conf;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Writes the table of settings into the documentation, between two marker lines. */
public final class ConfigurationReference {
  private static final String BEGIN = "<!-- settings: begin (generated) -->";
  private static final String END = "<!-- settings: end -->";

  private ConfigurationReference() {}

  /** Rewrites the table in the file that the first argument names. */
  public static void main(String[] args) throws IOException {
    Path page = Path.of(args[0]);
    Files.writeString(page, update(Files.readString(page)));
  }

  static String update(String page) {
    int begin = page.indexOf(BEGIN);
    int end = page.indexOf(END);
    if (begin < 0 || end < begin) {
      throw new IllegalArgumentException("no lines " + BEGIN + " and " + END);
    }
    return page.substring(0, begin + BEGIN.length()) + "\n" + table() + page.substring(end);
  }

  static String table() {
    StringBuilder table = new StringBuilder();
    table.append("| `spark.shuffle.rdma.` | type | default | range | meaning |\n");
    table.append("|---|---|---|---|---|\n");
    for (ConfigEntry<?> entry : RdmaConf.entries()) {
      table
          .append("| `")
          .append(entry.sparkKey().substring(RdmaConf.SPARK_PREFIX.length()))
          .append("` | ")
          .append(entry.type())
          .append(" | ")
          .append(entry.defaultText().isEmpty() ? "(empty)" : "`" + entry.defaultText() + "`")
          .append(" | ")
          .append(entry.range())
          .append(" | ")
          .append(entry.doc())
          .append(" |\n");
    }
    return table.toString();
  }
}
