package dev.verbatim.examples;

import dev.verbatim.examples.report.Machine;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Reports of comparisons as they could have been measured. */
final class Reports {
  static final SparkFacts SPARK = new SparkFacts("4.2.0", "class", List.of());
  static final SparkFacts VERBATIM =
      new SparkFacts("4.2.0", "class", List.of("RDMA off: NO_DEVICE, none is there"));

  private Reports() {}

  static RunSettings settings(int rounds, List<String> jobs) {
    return new RunSettings(
        jobs,
        List.of(ShuffleChoice.parse("sort"), ShuffleChoice.parse("verbatim")),
        rounds,
        "local-cluster[2,1,1024]",
        Map.of("spark.sql.shuffle.partitions", "4"),
        "/data/scale-0.01",
        false,
        List.of("-XX:+UseSerialGC"),
        "1g",
        "53b78ae");
  }

  /** Nothing has been run yet. */
  static RunReport run(int rounds, List<String> jobs) {
    Machine machine = new Machine("a CPU", 2, 24_000_000_000L, "Linux 6.1", "a JDK 25.0.3");
    return new RunReport(settings(rounds, jobs), machine, "2026-11-30T01:00:00Z", List.of());
  }

  /** A run of a job that succeeded. */
  static JobReport job(String name, double seconds, TransferBytes transfer) {
    return new JobReport(
        name,
        seconds,
        new ClusterCpu(2 * seconds, 3 * seconds),
        new ShuffleBytes(2_000_000, 500_000, 1_500_000, 300, 100, 4_000, 0),
        transfer,
        transfer == null || transfer.tcp() == 0 ? Map.of() : Map.of("NO_DEVICE", 7L),
        1234,
        null,
        null);
  }

  static JobReport different(JobReport job, String difference) {
    return new JobReport(
        job.job(),
        job.seconds(),
        job.cpu(),
        job.shuffle(),
        job.transfer(),
        job.fallbacks(),
        job.rows(),
        difference,
        null);
  }

  /** Job {@code i} takes {@code i + 1} seconds under sort, and 1 / 4 longer under Verbatim. */
  static RunReport complete(int rounds, List<String> jobs) {
    RunReport run = run(rounds, jobs);
    for (int round = 1; round <= rounds; round++) {
      List<JobReport> sort = new ArrayList<>();
      List<JobReport> verbatim = new ArrayList<>();
      for (int i = 0; i < jobs.size(); i++) {
        double more = 1 + (round - 1) / 10.0;
        sort.add(job(jobs.get(i), (i + 1) * more, null));
        verbatim.add(
            job(jobs.get(i), 1.25 * (i + 1) * more, new TransferBytes(1_200_000, 300_000)));
      }
      run =
          run.with(new ApplicationReport("sort", round, SPARK, sort))
              .with(new ApplicationReport("verbatim", round, VERBATIM, verbatim));
    }
    return run;
  }
}
