package dev.verbatim.shuffle.doctor;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.apache.spark.storage.BlockManagerId;

/** One examination of all executors of an application of its own. */
final class ClusterExamination {
  private static final Pattern LOCAL_CLUSTER = Pattern.compile("local-cluster\\[\\s*(\\d{1,4})");

  private ClusterExamination() {}

  static ClusterReport examine(Options options) throws InterruptedException {
    SparkConf conf = new SparkConf();
    String manager = conf.get("spark.shuffle.manager", "");
    int expected = expected(conf);
    conf.setIfMissing("spark.app.name", "Verbatim doctor")
        // An executor's own transport would be counted, and may not even open.
        .set("spark.shuffle.manager", "sort")
        // The number of executors must not change; a task belongs to one of them.
        .set("spark.dynamicAllocation.enabled", "false")
        .set("spark.speculation", "false")
        .set("spark.locality.wait", "60s");
    SparkContext spark = SparkContext.getOrCreate(conf);
    try {
      return examine(new Fleet(spark, manager), expected, options);
    } finally {
      spark.stop();
    }
  }

  /** How many executors are to come; 0 where that is not known. */
  private static int expected(SparkConf conf) {
    Matcher local = LOCAL_CLUSTER.matcher(conf.get("spark.master", ""));
    return conf.getInt(
        "spark.executor.instances", local.lookingAt() ? Integer.parseInt(local.group(1)) : 0);
  }

  private static ClusterReport examine(Fleet fleet, int expected, Options options)
      throws InterruptedException {
    Map<String, BlockManagerId> executors = fleet.await(expected);
    Findings findings = new Findings("executors");
    if (executors.isEmpty()) {
      findings.problem(
          "",
          "no executor has come",
          "a master with executors",
          "spark-submit --master; see the driver's log");
      return ClusterReport.of(List.of(), findings.all());
    }
    if (executors.size() < expected) {
      findings.warning(
          "",
          executors.size() + " of " + expected + " executors have come",
          "all of them",
          "see the cluster manager's log, or ask for fewer: spark.executor.instances");
    }
    Map<String, Report> reports = fleet.examine(executors, String.join(",", options.only()));
    List<Finding> cluster = new ArrayList<>(findings.all());
    cluster.addAll(
        unexamined("executors", executors.values(), id -> reports.containsKey(id.executorId())));
    if (options.pairs()) {
      cluster.addAll(pairs(fleet, executors));
    }
    return ClusterReport.of(List.copyOf(reports.values()), cluster);
  }

  /** One executor of each host; where there is one host alone, all of its executors. */
  private static List<Finding> pairs(Fleet fleet, Map<String, BlockManagerId> executors) {
    Map<String, BlockManagerId> byHost = new LinkedHashMap<>();
    executors.values().forEach(executor -> byHost.putIfAbsent(executor.host(), executor));
    Map<String, BlockManagerId> readers = byHost.size() > 1 ? byHost : executors;
    if (readers.size() < 2) {
      Findings findings = new Findings(PairTrial.CHECK);
      findings.warning(
          "",
          "there is one executor alone",
          "two, for READs between them",
          "ask for more: spark.executor.instances");
      return findings.all();
    }
    List<Finding> found = new ArrayList<>(fleet.readPairwise(readers.values()));
    Predicate<BlockManagerId> hasRead =
        id -> found.stream().anyMatch(f -> (f.subject() + " ").startsWith(name(id) + " "));
    found.addAll(unexamined(PairTrial.CHECK, readers.values(), hasRead));
    return found;
  }

  /** A warning for each executor that was to be examined and was not: it was asked for. */
  static List<Finding> unexamined(
      String check, Collection<BlockManagerId> executors, Predicate<BlockManagerId> examined) {
    Findings findings = new Findings(check);
    executors.stream()
        .filter(examined.negate())
        .forEach(
            id ->
                findings.warning(
                    name(id),
                    "no task could be had in it",
                    "a task in each executor",
                    "see whether it has ended, in the driver's log, and run this again"));
    return findings.all();
  }

  private static String name(BlockManagerId id) {
    return id.executorId() + "@" + id.host();
  }
}
