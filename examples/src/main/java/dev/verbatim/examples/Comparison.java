package dev.verbatim.examples;

import java.util.ArrayList;
import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * One shuffle manager compared with the reference, over all rounds.
 *
 * @param reference label of the one
 * @param other label of the other
 * @param overall all jobs that both have run
 * @param jobs each job of the run, in order
 */
record Comparison(String reference, String other, Overall overall, List<JobComparison> jobs) {

  /**
   * All jobs that have been run under both managers.
   *
   * @param jobs their number
   * @param geometricMean of the jobs' median ratios; null without jobs
   * @param seconds sum of the reference's medians
   * @param otherSeconds sum of the other's medians
   * @param shuffle of all of the reference's rounds that count
   * @param otherShuffle of all of the other's rounds that count
   */
  record Overall(
      int jobs,
      Double geometricMean,
      double seconds,
      double otherSeconds,
      ShuffleBytes shuffle,
      ShuffleBytes otherShuffle) {

    static Overall of(List<JobComparison> jobs) {
      List<JobComparison> compared = jobs.stream().filter(JobComparison::compared).toList();
      double logs = sum(compared, job -> Math.log(job.ratio().median()));
      return new Overall(
          compared.size(),
          compared.isEmpty() ? null : Math.exp(logs / compared.size()),
          sum(compared, job -> job.reference().seconds().median()),
          sum(compared, job -> job.other().seconds().median()),
          shuffle(compared.stream().map(JobComparison::reference).toList()),
          shuffle(compared.stream().map(JobComparison::other).toList()));
    }

    private static double sum(List<JobComparison> jobs, ToDoubleFunction<JobComparison> value) {
      return jobs.stream().mapToDouble(value).sum();
    }

    private static ShuffleBytes shuffle(List<JobSide> sides) {
      return sides.stream().map(JobSide::shuffle).reduce(ShuffleBytes.NONE, ShuffleBytes::plus);
    }
  }

  /**
   * @param jobs names, in order
   * @param reference reports by round
   * @param other reports by round
   */
  static Comparison of(
      List<String> jobs, List<ApplicationReport> reference, List<ApplicationReport> other) {
    List<JobComparison> comparisons = new ArrayList<>();
    for (String job : jobs) {
      comparisons.add(JobComparison.of(job, reference, other));
    }
    return new Comparison(
        reference.getFirst().label(),
        other.getFirst().label(),
        Overall.of(comparisons),
        comparisons);
  }

  /** How many jobs came to such an end. */
  long count(JobComparison.Outcome outcome) {
    return jobs.stream().filter(job -> job.outcome() == outcome).count();
  }
}
