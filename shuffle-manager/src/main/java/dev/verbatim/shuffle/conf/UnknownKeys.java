package dev.verbatim.shuffle.conf;

import static java.util.Locale.ROOT;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.function.Function;
import org.apache.spark.SparkConf;

/** Finds keys under our prefix that no entry declares, and what was probably meant. */
final class UnknownKeys {
  private UnknownKeys() {}

  static List<String> warnings(SparkConf conf, Collection<String> site) {
    List<String> spark =
        Arrays.stream(conf.getAllWithPrefix(RdmaConf.SPARK_PREFIX))
            .map(setting -> RdmaConf.SPARK_PREFIX + setting._1())
            .toList();
    List<String> warnings = new ArrayList<>();
    warn(spark, ConfigEntry::sparkKey, "", warnings);
    warn(site, ConfigEntry::siteKey, " of " + SiteFile.NAME, warnings);
    warnings.sort(Comparator.naturalOrder());
    return warnings;
  }

  private static void warn(
      Collection<String> keys,
      Function<ConfigEntry<?>, String> name,
      String where,
      List<String> warnings) {
    List<String> known = RdmaConf.entries().stream().map(name).toList();
    for (String key : keys) {
      if (!known.contains(key)) {
        warnings.add(
            key + where + " is not a known key and has no effect; nearest: " + nearest(key, known));
      }
    }
  }

  /** The known key with the least edit distance. */
  private static String nearest(String key, List<String> known) {
    return known.stream()
        .min(Comparator.comparingInt(k -> distance(key.toLowerCase(ROOT), k.toLowerCase(ROOT))))
        .orElseThrow();
  }

  private static int distance(String left, String right) {
    int[] row = new int[right.length() + 1];
    Arrays.setAll(row, i -> i);
    for (int i = 1; i <= left.length(); i++) {
      int diagonal = row[0];
      row[0] = i;
      for (int j = 1; j <= right.length(); j++) {
        int substituted = diagonal + (left.charAt(i - 1) == right.charAt(j - 1) ? 0 : 1);
        diagonal = row[j];
        row[j] = Math.min(substituted, 1 + Math.min(row[j], row[j - 1]));
      }
    }
    return row[right.length()];
  }
}
