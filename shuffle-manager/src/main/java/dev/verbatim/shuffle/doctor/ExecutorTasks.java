package dev.verbatim.shuffle.doctor;

import java.io.File;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.spark.BarrierTaskContext;
import org.apache.spark.SparkEnv;

/**
 * What the doctor's tasks do in an executor. They answer texts: classes of a jar that came with the
 * job are not known everywhere in Spark.
 */
final class ExecutorTasks {
  private ExecutorTasks() {}

  /** A {@link Report} of this executor. */
  static String examine(String manager, String checks) {
    Set<String> only = checks.isEmpty() ? Set.of() : Set.of(checks.split(","));
    SparkEnv env = SparkEnv.get();
    Report report = Doctor.examine(new LiveHost(), settings(env, manager), only).asked(only);
    return Json.write(report.of(env.blockManager().blockManagerId()));
  }

  /** {@link Finding}s of the pairs in which this executor reads; all executors at a time. */
  static List<String> readFromOthers(String manager, byte[] token) {
    BarrierTaskContext task = BarrierTaskContext.get();
    SparkEnv env = SparkEnv.get();
    PairTrial trial = new PairTrial(task.partitionId(), text -> List.of(task.allGather(text)));
    List<String> findings = new ArrayList<>();
    trial
        .run(
            settings(env, manager),
            token,
            env.executorId(),
            env.blockManager().blockManagerId().host())
        .forEach(finding -> findings.add(Json.write(finding)));
    return findings;
  }

  private static Settings settings(SparkEnv env, String manager) {
    Stream<File> folders = Arrays.stream(env.blockManager().diskBlockManager().localDirs());
    return Settings.of(env.conf(), manager, folders.map(File::toPath).toList());
  }
}
