package dev.verbatim.examples;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.spark.SparkConf;
import org.apache.spark.util.Utils;
import scala.Tuple2;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * What a comparison is of: a run can be taken up again only with the same.
 *
 * @param jobs names, all different, in order
 * @param managers the first is the reference
 * @param rounds every other one with managers in reversed order
 * @param configuration all Spark settings but for the shuffle manager
 * @param data folder of the queries' tables; null if none was given
 * @param keepLimit whether to keep the queries' outermost LIMIT
 * @param jvmFlags of driver and executors
 * @param driverMemory such as {@code 1g}
 * @param commit of what is measured; null if not given
 */
record RunSettings(
    List<String> jobs,
    List<ShuffleChoice> managers,
    int rounds,
    String master,
    Map<String, String> configuration,
    String data,
    boolean keepLimit,
    List<String> jvmFlags,
    String driverMemory,
    String commit) {

  ShuffleChoice reference() {
    return managers.getFirst();
  }

  /** Those that are compared with the reference. */
  List<ShuffleChoice> others() {
    return managers.subList(1, managers.size());
  }

  /** Managers in the order of a round. */
  List<ShuffleChoice> order(int round) {
    return round % 2 == 1 ? managers : managers.reversed();
  }

  /** Reports are passed on: without the values that Spark hides in its own pages. */
  RunSettings redacted() {
    SparkConf conf = new SparkConf(false);
    configuration.forEach(conf::set);
    Map<String, String> shown = new LinkedHashMap<>();
    configuration.forEach((key, value) -> shown.put(key, redacted(conf, key, value)));
    return new RunSettings(
        jobs,
        managers,
        rounds,
        master,
        shown,
        data,
        keepLimit,
        jvmFlags.stream().map(flag -> redacted(conf, "", flag)).toList(),
        driverMemory,
        commit);
  }

  private static String redacted(SparkConf conf, String key, String value) {
    Seq<Tuple2<String, String>> one =
        CollectionConverters.asScala(List.of(new Tuple2<>(key, value))).toSeq();
    return Utils.redact(conf, one).head()._2();
  }

  /**
   * Compares with those that a run was begun with.
   *
   * @throws IllegalArgumentException naming the first that differs
   */
  void checkSame(RunSettings begun) {
    check("jobs", begun.jobs, jobs);
    check("managers", begun.managers, managers);
    check("rounds", begun.rounds, rounds);
    check("master", begun.master, master);
    check("Spark settings", begun.configuration, configuration);
    check("data", begun.data, data);
    check("keep-limit", begun.keepLimit, keepLimit);
    check("JVM flags", begun.jvmFlags, jvmFlags);
    check("driver memory", begun.driverMemory, driverMemory);
    check("commit", begun.commit, commit);
  }

  private static void check(String what, Object begun, Object now) {
    if (!Objects.equals(begun, now)) {
      throw new IllegalArgumentException(
          "The run was begun with other "
              + what
              + ": "
              + begun
              + ", not "
              + now
              + ". Use the same, or run without --resume");
    }
  }
}
