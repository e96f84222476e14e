package dev.verbatim.shuffle.doctor;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.apache.spark.storage.BlockManagerId;

/**
 * Examines the hosts of all executors, as the executors see them, and READs between hosts. A Spark
 * application, for {@code spark-submit}.
 */
public final class ExamineExecutors {
  private static final String USAGE =
      """
      Options: [--json] [--only CHECK,...] [--pairs]
        --json         write JSON
        --only LIST    run these checks alone: %s
        --pairs        READ between all pairs of hosts, too
      Exit code: 0 nothing wrong was seen, 1 warnings, 2 problems, 3 wrong use, or the program failed.
      """;

  private static final Pattern LOCAL_CLUSTER = Pattern.compile("local-cluster\\[\\s*(\\d{1,4})");

  private ExamineExecutors() {}

  /** Prints a report, and ends the process with its verdict. */
  public static void main(String[] arguments) {
    System.exit(run(arguments));
  }

  private static int run(String... arguments) {
    try {
      Options options = Options.parse(arguments);
      if (options.help()) {
        System.out.print(USAGE.formatted(String.join(",", Doctor.names())));
        return 0;
      }
      if (options.record().isPresent() || options.replay().isPresent()) {
        throw new IllegalArgumentException("--record and --replay are for one host");
      }
      ClusterReport report = examine(new SparkConf(), options);
      System.out.print(options.json() ? Json.write(report) + "\n" : ClusterText.of(report));
      return report.verdict().exitCode();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      System.err.println("doctor: interrupted");
    } catch (RuntimeException e) {
      System.err.println("doctor: " + (e instanceof IllegalArgumentException ? e.getMessage() : e));
    }
    return ExamineHost.FAILED;
  }

  static ClusterReport examine(SparkConf conf, Options options) throws InterruptedException {
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
    for (String executor : executors.keySet()) {
      if (!reports.containsKey(executor)) {
        findings.unknown(
            executor + "@" + executors.get(executor).host(), "no task could be had in it", "");
      }
    }
    List<Finding> cluster = new ArrayList<>(findings.all());
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
    if (readers.size() > 1) {
      return fleet.readPairwise(readers.values());
    }
    Findings findings = new Findings(PairTrial.CHECK);
    findings.unknown("", "there is one executor alone", "ask for more: spark.executor.instances");
    return findings.all();
  }
}
