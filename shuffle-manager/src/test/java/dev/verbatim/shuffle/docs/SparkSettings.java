package dev.verbatim.shuffle.docs;

import java.util.List;
import org.apache.spark.internal.config.ConfigEntry;

/** The settings that Spark itself declares, as far as its modules are on the class path. */
final class SparkSettings {
  private static final String PACKAGE = "org.apache.spark.internal.config.";

  /** Each declares its settings when it is loaded. */
  private static final List<String> HOLDERS =
      List.of(
          PACKAGE + "package$",
          PACKAGE + "History$",
          PACKAGE + "Kryo$",
          PACKAGE + "Network$",
          PACKAGE + "Status$",
          PACKAGE + "UI$",
          PACKAGE + "Worker$",
          "org.apache.spark.sql.internal.SQLConf$");

  /** Modules that are not here, families, and one that has no declaration. */
  private static final List<String> OTHERS =
      List.of(
          "spark.kubernetes.",
          "spark.yarn.",
          "spark.ssl.",
          "spark.executorEnv.",
          "spark.local.dir");

  SparkSettings() {
    for (String holder : HOLDERS) {
      try {
        Class.forName(holder);
      } catch (ClassNotFoundException e) {
        throw new IllegalStateException(e);
      }
    }
  }

  boolean has(String key) {
    return ConfigEntry.findEntry(key) != null || OTHERS.stream().anyMatch(key::startsWith);
  }
}
