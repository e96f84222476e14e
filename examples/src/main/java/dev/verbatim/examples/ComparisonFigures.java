package dev.verbatim.examples;

import dev.verbatim.examples.report.Figure;
import dev.verbatim.examples.report.Figure.Side;
import dev.verbatim.examples.report.Goal;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.ToDoubleFunction;

/**
 * A comparison as figures: the time of each job, and of all time, CPU time, shuffle's share and
 * bytes by RDMA.
 */
final class ComparisonFigures {
  private final List<ApplicationReport> reference;
  private final List<ApplicationReport> other;
  private final String prefix;
  private final List<Goal> timeGoals;

  private ComparisonFigures(
      List<ApplicationReport> reference,
      List<ApplicationReport> other,
      String prefix,
      List<Goal> timeGoals) {
    this.reference = reference;
    this.other = other;
    this.prefix = prefix;
    this.timeGoals = timeGoals;
  }

  /**
   * @param reference reports by round, of jobs that all succeeded
   * @param other reports by round, of the same jobs
   * @param prefix what all names begin with
   * @param timeGoals of the time of all jobs
   */
  static List<Figure> of(
      List<ApplicationReport> reference,
      List<ApplicationReport> other,
      String prefix,
      List<Goal> timeGoals) {
    return new ComparisonFigures(reference, other, prefix, timeGoals).figures();
  }

  private List<Figure> figures() {
    List<Figure> figures = new ArrayList<>();
    for (JobReport job : reference.getFirst().jobs()) {
      String name = job.job();
      figures.add(
          figure(
              name.replace(':', '-'),
              "Time of " + name,
              "s",
              List.of(),
              report -> report.find(name).orElseThrow().seconds()));
    }
    figures.add(
        figure(
            "all-jobs",
            "Time of all jobs",
            "s",
            timeGoals,
            report -> sum(report, JobReport::seconds)));
    figures.add(
        figure(
            "all-jobs-cpu",
            "CPU time of driver and executors, all jobs",
            "s",
            List.of(),
            report -> sum(report, job -> job.cpu().processSeconds())));
    figures.add(
        figure(
            "all-jobs-machine-cpu",
            "CPU time of all that runs on the machines of driver and executors, all jobs",
            "s",
            List.of(),
            report -> sum(report, job -> job.cpu().machineSeconds())));
    figures.add(
        figure(
            "all-jobs-shuffle-share",
            "Part of the tasks' time spent writing or waiting for shuffled data, all jobs",
            "%",
            List.of(),
            report ->
                100
                    * report.jobs().stream()
                        .map(JobReport::shuffle)
                        .reduce(ShuffleBytes.NONE, ShuffleBytes::plus)
                        .shareOfTaskTime()));
    bytesByRdma().ifPresent(figures::add);
    return figures;
  }

  /** Against what the reference's executors read from each other. */
  private Optional<Figure> bytesByRdma() {
    if (other.stream()
        .flatMap(report -> report.jobs().stream())
        .anyMatch(ComparisonFigures::isUncounted)) {
      return Optional.empty();
    }
    return Optional.of(
        new Figure(
            prefix + "all-jobs-rdma-bytes",
            "Data that came from other executors by RDMA, and by any way, all jobs",
            "MB",
            side(other, report -> sum(report, job -> job.transfer().rdma() / 1e6)),
            side(reference, report -> sum(report, job -> job.shuffle().remote() / 1e6)),
            List.of(),
            devices(),
            null));
  }

  private static boolean isUncounted(JobReport job) {
    return job.transfer() == null;
  }

  private static double sum(ApplicationReport report, ToDoubleFunction<JobReport> value) {
    return report.jobs().stream().mapToDouble(value).sum();
  }

  private Figure figure(
      String name,
      String what,
      String unit,
      List<Goal> goals,
      ToDoubleFunction<ApplicationReport> value) {
    return new Figure(
        prefix + name,
        what,
        unit,
        side(other, value),
        side(reference, value),
        goals,
        devices(),
        null);
  }

  /** What the other side's executors said of RDMA, without their addresses; null if nothing. */
  private String devices() {
    return other.getLast().modes().stream()
        .map(mode -> mode.split(", ")[0])
        .distinct()
        .reduce((one, two) -> one + "; " + two)
        .orElse(null);
  }

  private static Side side(
      List<ApplicationReport> rounds, ToDoubleFunction<ApplicationReport> value) {
    return new Side(rounds.getFirst().label(), rounds.stream().map(value::applyAsDouble).toList());
  }
}
