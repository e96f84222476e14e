package dev.verbatim.examples;

import com.fasterxml.jackson.annotation.JsonProperty;
import dev.verbatim.examples.report.Spread;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * One job under the reference shuffle manager and another one. What is measured counts for those
 * rounds in which it succeeded under both.
 *
 * @param rows of its result; null if it never had one
 * @param reference null if no round counts
 * @param other null if no round counts
 * @param ratio the other's time by the reference's, round by round; null if no round counts
 * @param problems what failed or differed, with manager and round
 * @param ended whether all rounds have ended under both, well or not
 */
record JobComparison(
    String job,
    Integer rows,
    JobSide reference,
    JobSide other,
    Spread ratio,
    List<Problem> problems,
    boolean ended) {

  /** How a job came out. */
  enum Outcome {
    /** No result differs. */
    EQUAL("OK"),
    /** A result differs from the first one. */
    DIFFERENT("DIFFERENT"),
    /** It had no result under one of the managers, or in one of the rounds. */
    FAILED("FAILED"),
    /** It has not been run in all rounds, and nothing is wrong so far. */
    OPEN("not complete");

    private final String text;

    Outcome(String text) {
      this.text = text;
    }

    /** For people. */
    String text() {
      return text;
    }
  }

  /**
   * What is wrong with one run of a job.
   *
   * @param failed otherwise its result differs
   */
  record Problem(String manager, int round, boolean failed, String text) {}

  static JobComparison of(
      String job, List<ApplicationReport> reference, List<ApplicationReport> other) {
    List<JobReport> ours = new ArrayList<>();
    List<JobReport> theirs = new ArrayList<>();
    List<Double> ratios = new ArrayList<>();
    boolean ended = true;
    for (int i = 0; i < reference.size(); i++) {
      Optional<JobReport> one = reference.get(i).find(job);
      Optional<JobReport> two = other.get(i).find(job);
      ended &= one.isPresent() && two.isPresent();
      if (one.filter(JobReport::succeeded).isPresent()
          && two.filter(JobReport::succeeded).isPresent()) {
        theirs.add(one.get());
        ours.add(two.get());
        ratios.add(two.get().seconds() / one.get().seconds());
      }
    }
    List<Problem> problems =
        Stream.concat(reference.stream(), other.stream())
            .flatMap(report -> report.find(job).stream().flatMap(run -> problem(report, run)))
            .toList();
    return new JobComparison(
        job,
        Stream.concat(reference.stream(), other.stream())
            .flatMap(report -> report.find(job).stream())
            .filter(JobReport::succeeded)
            .map(JobReport::rows)
            .findFirst()
            .orElse(null),
        ratios.isEmpty() ? null : JobSide.of(theirs),
        ratios.isEmpty() ? null : JobSide.of(ours),
        ratios.isEmpty() ? null : Spread.of(ratios),
        problems,
        ended);
  }

  private static Stream<Problem> problem(ApplicationReport report, JobReport run) {
    String text = run.succeeded() ? run.difference() : run.error();
    return text == null
        ? Stream.of()
        : Stream.of(new Problem(report.label(), report.round(), !run.succeeded(), text));
  }

  /** Whether there is a round that counts. */
  boolean compared() {
    return ratio != null;
  }

  @JsonProperty
  Outcome outcome() {
    if (problems.stream().anyMatch(problem -> !problem.failed())) {
      return Outcome.DIFFERENT;
    }
    if (!problems.isEmpty()) {
      return Outcome.FAILED;
    }
    return ended ? Outcome.EQUAL : Outcome.OPEN;
  }
}
