package dev.verbatim.examples;

import java.io.IOException;
import java.io.Serializable;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.SparkSession;

/**
 * CPU time that an application has used so far, wherever its processes run.
 *
 * @param processSeconds of the driver and of all executors
 * @param machineSeconds of all that runs on their machines, the kernel's own threads included
 */
record ClusterCpu(double processSeconds, double machineSeconds) {
  private static final int TRIES = 100;

  /** What one process says, and of which machine it is. */
  private record Sample(long processMillis, String machine, long machineMillis)
      implements Serializable {
    static Sample take() throws IOException {
      return new Sample(
          CpuTimes.of(ProcessHandle.current().pid()).totalMillis(),
          Files.readString(Path.of("/proc/sys/kernel/random/boot_id")),
          CpuTimes.ofMachine().totalMillis());
    }
  }

  private record Answer(String executor, Sample sample) implements Serializable {}

  /** Asks the driver's own process, and each executor by a task. */
  static ClusterCpu of(SparkSession spark) throws IOException {
    Map<String, Sample> samples = new HashMap<>();
    samples.put("driver", Sample.take());
    // With a local master the driver is the executor; else the driver is listed besides them.
    int processes = spark.sparkContext().statusTracker().getExecutorInfos().length;
    for (int i = 0; samples.size() < processes; i++) {
      if (i == TRIES) {
        throw new IOException("of " + processes + " processes only " + samples.keySet() + " tell");
      }
      askExecutors(spark, 2 * processes, samples);
    }
    Map<String, Long> machines = new HashMap<>();
    samples.values().forEach(one -> machines.put(one.machine(), one.machineMillis()));
    return new ClusterCpu(
        samples.values().stream().mapToLong(Sample::processMillis).sum() / 1e3,
        machines.values().stream().mapToLong(Long::longValue).sum() / 1e3);
  }

  private static void askExecutors(SparkSession spark, int tasks, Map<String, Sample> samples) {
    JavaSparkContext.fromSparkContext(spark.sparkContext())
        .parallelize(Collections.nCopies(tasks, 0), tasks)
        .map(
            task -> {
              Thread.sleep(10); // so that no executor takes all
              return new Answer(SparkEnv.get().executorId(), Sample.take());
            })
        .collect()
        .forEach(answer -> samples.put(answer.executor(), answer.sample()));
  }

  ClusterCpu since(ClusterCpu earlier) {
    return new ClusterCpu(
        processSeconds - earlier.processSeconds, machineSeconds - earlier.machineSeconds);
  }
}
