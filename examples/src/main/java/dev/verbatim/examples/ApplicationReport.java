package dev.verbatim.examples;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * What one shuffle manager did in one round: as one Spark application, or as several if one of them
 * ended early.
 *
 * @param label of the manager, as requested
 * @param round from 1
 * @param facts null until Spark has started
 * @param jobs those that have ended, in order
 */
record ApplicationReport(String label, int round, SparkFacts facts, List<JobReport> jobs) {
  ApplicationReport {
    jobs = List.copyOf(jobs);
  }

  Optional<JobReport> find(String job) {
    return jobs.stream().filter(report -> report.job().equals(job)).findFirst();
  }

  ApplicationReport with(SparkFacts newer) {
    return new ApplicationReport(label, round, newer, jobs);
  }

  ApplicationReport with(JobReport job) {
    List<JobReport> all = new ArrayList<>(jobs);
    all.add(job);
    return new ApplicationReport(label, round, facts, all);
  }

  /** Without jobs that failed. */
  ApplicationReport succeeded() {
    return new ApplicationReport(
        label, round, facts, jobs.stream().filter(JobReport::succeeded).toList());
  }

  /** What executors said about their devices. */
  List<String> modes() {
    return facts == null ? List.of() : facts.modes();
  }

  /** Blocks that Verbatim left to TCP, by reason. */
  Map<String, Long> fallbacks() {
    Map<String, Long> sum = new TreeMap<>();
    jobs.forEach(job -> job.fallbacks().forEach((reason, n) -> sum.merge(reason, n, Long::sum)));
    return sum;
  }
}
