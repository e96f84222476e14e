package dev.verbatim.shuffle.conf;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import org.apache.spark.SparkConf;
import scala.Tuple2;

/** Finds keys under our prefix that no entry declares, and what was probably meant. */
final class UnknownKeys {
  private UnknownKeys() {}

  static List<String> warnings(SparkConf conf) {
    List<String> known = RdmaConf.entries().stream().map(ConfigEntry::sparkKey).toList();
    List<String> warnings = new ArrayList<>();
    for (Tuple2<String, String> setting : conf.getAllWithPrefix(RdmaConf.SPARK_PREFIX)) {
      String key = RdmaConf.SPARK_PREFIX + setting._1();
      if (!known.contains(key)) {
        warnings.add(key + " is not a known key and has no effect; nearest: " + nearest(key));
      }
    }
    warnings.sort(Comparator.naturalOrder());
    return warnings;
  }

  /** The known key with the least edit distance. */
  static String nearest(String key) {
    return RdmaConf.entries().stream()
        .map(ConfigEntry::sparkKey)
        .min(Comparator.comparingInt(known -> distance(key.toLowerCase(), known.toLowerCase())))
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
