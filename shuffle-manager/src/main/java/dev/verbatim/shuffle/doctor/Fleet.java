package dev.verbatim.shuffle.doctor;

import java.io.Serializable;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.rdd.RDD;
import org.apache.spark.storage.BlockManagerId;
import scala.Function1;
import scala.Tuple2;
import scala.collection.Iterator;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;
import scala.reflect.ClassTag;

/** The executors of an application, and tasks that run once in each of them. */
final class Fleet {
  /** How long an application of this cluster may wait for its executors, as Spark has it. */
  private static final String LONGEST_WAIT = "spark.scheduler.maxRegisteredResourcesWaitingTime";

  private static final Duration SETTLED = Duration.ofSeconds(10);
  private static final int ROUNDS = 3;
  private static final ClassTag<String> TEXT = ClassTag.apply(String.class);

  private final SparkContext spark;
  private final String manager;

  Fleet(SparkContext spark, String manager) {
    this.spark = spark;
    this.manager = manager;
  }

  /**
   * Executors by id, in order, with their hosts: once there are as many as expected, or, where that
   * is not known, once no more have come for a while.
   *
   * @param expected 0 where it is not known
   */
  Map<String, BlockManagerId> await(int expected) throws InterruptedException {
    Duration longest = Duration.ofMillis(spark.conf().getTimeAsMs(LONGEST_WAIT, "60s"));
    long end = System.nanoTime() + longest.toNanos();
    long changed = System.nanoTime();
    Map<String, BlockManagerId> executors = executors();
    while (System.nanoTime() < end) {
      boolean settled = System.nanoTime() - changed > SETTLED.toNanos();
      if (!executors.isEmpty() && (expected > 0 ? executors.size() >= expected : settled)) {
        break;
      }
      Thread.sleep(100);
      Map<String, BlockManagerId> now = executors();
      if (now.size() != executors.size()) {
        changed = System.nanoTime();
      }
      executors = now;
    }
    return executors;
  }

  private static Map<String, BlockManagerId> executors() {
    SparkEnv env = SparkEnv.get();
    if (env == null) {
      throw new IllegalStateException(
          "Spark has ended the application before an executor came: see its log above");
    }
    Map<String, BlockManagerId> executors = new LinkedHashMap<>();
    CollectionConverters.asJava(env.blockManager().master().getMemoryStatus()).keySet().stream()
        .filter(id -> !id.isDriver())
        .sorted((a, b) -> compare(a.executorId(), b.executorId()))
        .forEach(id -> executors.put(id.executorId(), id));
    return executors;
  }

  /** As numbers, which ids of executors are. */
  private static int compare(String a, String b) {
    return a.length() == b.length() ? a.compareTo(b) : a.length() - b.length();
  }

  /** Reports by executor; without those that no task could be had in. */
  Map<String, Report> examine(Map<String, BlockManagerId> executors, String only) {
    String manager = this.manager;
    Map<String, Report> reports = new LinkedHashMap<>();
    Map<String, BlockManagerId> missing = new LinkedHashMap<>(executors);
    for (int round = 0; round < ROUNDS && !missing.isEmpty(); round++) {
      List<String> answers =
          JavaRDD.fromRDD(placed(missing.values()), TEXT)
              .map(_ -> ExecutorTasks.examine(manager, only))
              .collect();
      for (String answer : answers) {
        Report report = Json.read(answer, Report.class);
        reports.put(report.executor(), report);
      }
      missing.keySet().removeAll(reports.keySet());
    }
    return reports;
  }

  /** READs between all of these executors. */
  List<Finding> readPairwise(Collection<BlockManagerId> executors) {
    String manager = this.manager;
    byte[] token = new byte[32];
    new SecureRandom().nextBytes(token);
    Function1<Iterator<String>, Iterator<String>> task =
        (Function1<Iterator<String>, Iterator<String>> & Serializable)
            _ ->
                CollectionConverters.asScala(
                    ExecutorTasks.readFromOthers(manager, token).iterator());
    RDD<String> answers = placed(executors).barrier().mapPartitions(task, false, TEXT);
    List<Finding> findings = new ArrayList<>();
    for (String answer : JavaRDD.fromRDD(answers, TEXT).collect()) {
      findings.add(Json.read(answer, Finding.class));
    }
    return findings;
  }

  /** A partition for each executor, which Spark computes there as long as it can. */
  private RDD<String> placed(Collection<BlockManagerId> executors) {
    List<Tuple2<String, Seq<String>>> places = new ArrayList<>();
    for (BlockManagerId executor : executors) {
      // The form of a preferred location by which Spark's scheduler knows an executor.
      String place = "executor_" + executor.host() + "_" + executor.executorId();
      places.add(new Tuple2<>(executor.executorId(), seq(List.of(place))));
    }
    return spark.makeRDD(seq(places), TEXT);
  }

  private static <T> Seq<T> seq(List<T> list) {
    return CollectionConverters.asScala(list).toSeq();
  }
}
