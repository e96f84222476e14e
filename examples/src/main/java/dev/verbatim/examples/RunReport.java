package dev.verbatim.examples;

import dev.verbatim.examples.report.Machine;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * All that a comparison has measured so far.
 *
 * @param machine where drivers run
 * @param started when, ISO 8601
 * @param applications one for each manager and round that has begun
 */
record RunReport(
    RunSettings settings, Machine machine, String started, List<ApplicationReport> applications) {
  RunReport {
    applications = List.copyOf(applications);
  }

  Optional<ApplicationReport> find(String label, int round) {
    return applications.stream()
        .filter(one -> one.label().equals(label) && one.round() == round)
        .findFirst();
  }

  /** With one report in place of that of the same manager and round. */
  RunReport with(ApplicationReport report) {
    List<ApplicationReport> all = new ArrayList<>(applications);
    all.removeIf(one -> one.label().equals(report.label()) && one.round() == report.round());
    all.add(report);
    return new RunReport(settings, machine, started, all);
  }

  /** As others may see it. */
  RunReport redacted() {
    return new RunReport(settings.redacted(), machine, started, applications);
  }

  /**
   * Without jobs that failed, so that they are run again.
   *
   * @param whole the same settings, not redacted
   */
  RunReport succeeded(RunSettings whole) {
    return new RunReport(
        whole, machine, started, applications.stream().map(ApplicationReport::succeeded).toList());
  }

  /** What a manager did, for each round; without jobs where a round has not begun. */
  List<ApplicationReport> rounds(String label) {
    return IntStream.rangeClosed(1, settings.rounds())
        .mapToObj(
            round ->
                find(label, round)
                    .orElseGet(() -> new ApplicationReport(label, round, null, List.of())))
        .toList();
  }

  /** Jobs that one manager has not ended in one round. */
  List<String> open(String label, int round) {
    return settings.jobs().stream()
        .filter(job -> find(label, round).flatMap(done -> done.find(job)).isEmpty())
        .toList();
  }

  /** How often a job is to be run, over all managers and rounds. */
  int planned() {
    return settings.jobs().size() * settings.managers().size() * settings.rounds();
  }

  /** How many of those have ended. */
  int done() {
    return applications.stream().mapToInt(report -> report.jobs().size()).sum();
  }

  /** How many of those failed. */
  long failed() {
    return applications.stream()
        .flatMap(report -> report.jobs().stream())
        .filter(job -> !job.succeeded())
        .count();
  }

  /** Each other manager compared with the reference, in order. */
  List<Comparison> comparisons() {
    return settings.others().stream()
        .map(
            other ->
                Comparison.of(
                    settings.jobs(), rounds(settings.reference().label()), rounds(other.label())))
        .toList();
  }
}
