package dev.verbatim.examples;

import dev.verbatim.examples.report.Spread;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * One job under the reference shuffle manager and another one, over all rounds.
 *
 * @param seconds median over rounds
 * @param otherSeconds median over rounds
 * @param shuffle of the other manager's last round
 * @param transfer of the other manager's last round, null if not counted
 * @param difference what differs from the reference's first result, null if nothing ever did
 */
record Comparison(
    String job,
    int rows,
    double seconds,
    double otherSeconds,
    ShuffleBytes shuffle,
    TransferBytes transfer,
    String difference) {

  /**
   * @param reference reports by round
   * @param other reports by round, of the same jobs in the same order
   */
  static List<Comparison> of(List<ApplicationReport> reference, List<ApplicationReport> other) {
    List<Comparison> comparisons = new ArrayList<>();
    for (int i = 0; i < reference.getFirst().jobs().size(); i++) {
      int job = i;
      comparisons.add(
          of(
              reference.stream().map(report -> report.jobs().get(job)).toList(),
              other.stream().map(report -> report.jobs().get(job)).toList(),
              other.getFirst().label()));
    }
    return comparisons;
  }

  private static Comparison of(
      List<JobReport> reference, List<JobReport> other, String otherLabel) {
    JobResult expected = reference.getFirst().result();
    JobReport last = other.getLast();
    return new Comparison(
        last.job(),
        expected.rows().size(),
        median(reference),
        median(other),
        last.shuffle(),
        last.transfer(),
        firstDifference(expected, reference, "reference")
            .or(() -> firstDifference(expected, other, otherLabel))
            .orElse(null));
  }

  private static double median(List<JobReport> rounds) {
    return Spread.of(rounds.stream().map(JobReport::seconds).toList()).median();
  }

  private static Optional<String> firstDifference(
      JobResult expected, List<JobReport> rounds, String label) {
    for (int i = 0; i < rounds.size(); i++) {
      Optional<String> difference = ResultComparison.difference(expected, rounds.get(i).result());
      if (difference.isPresent()) {
        return Optional.of(label + ", round " + (i + 1) + ": " + difference.get());
      }
    }
    return Optional.empty();
  }

  boolean same() {
    return difference == null;
  }
}
