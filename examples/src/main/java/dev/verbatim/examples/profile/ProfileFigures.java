package dev.verbatim.examples.profile;

import dev.verbatim.examples.report.Figure;
import dev.verbatim.examples.report.Figure.Side;
import dev.verbatim.examples.report.Goal;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.function.ToDoubleFunction;

/** Verbatim's share of the CPU time of jobs as figures, round by round. */
final class ProfileFigures {
  private static final List<Goal> GOAL = List.of(Goal.parse("ours <= 1"));
  private static final String NOTE =
      "Sampled by Flight Recorder; the device is the stand-in, whose copying is left out";
  private static final Predicate<String> QUERIES = job -> job.matches("q\\d.*");
  private static final Predicate<String> EXECUTORS = role -> role.startsWith("executor");
  private static final Predicate<String> DRIVER = role -> role.equals("driver");

  private final List<ProfiledApplication> ours;
  private final List<ProfiledApplication> stock;

  /**
   * @param ours under Verbatim, by round
   * @param stock under Spark's own shuffle manager, by round
   */
  ProfileFigures(List<ProfiledApplication> ours, List<ProfiledApplication> stock) {
    this.ours = ours;
    this.stock = stock;
  }

  List<Figure> all() {
    List<Figure> figures = new ArrayList<>();
    List<String> jobs = ours.getFirst().jobs();
    for (String job : jobs) {
      figures.add(
          executors(
              "profile-" + job.replace(':', '-'),
              job,
              job::equals,
              QUERIES.test(job) ? GOAL : List.of()));
    }
    if (jobs.stream().anyMatch(QUERIES)) {
      figures.add(executors("profile-queries", "all queries", QUERIES, GOAL));
      figures.add(
          alone(
              "profile-queries-largest",
              "The same, of the method that takes most",
              GOAL,
              EXECUTORS,
              shares -> shares.methods().values().stream().reduce(0.0, Math::max)));
      figures.add(
          alone(
              "profile-queries-copy",
              "Executors' CPU in which the stand-in copies as a card would, all queries",
              List.of(),
              EXECUTORS,
              CpuShares::copyPercent));
      figures.add(
          alone(
              "profile-queries-driver",
              "Driver's CPU in Verbatim's code, all queries",
              GOAL,
              DRIVER,
              CpuShares::oursPercent));
    }
    return figures;
  }

  private Figure executors(String name, String what, Predicate<String> jobs, List<Goal> goals) {
    return new Figure(
        name,
        "Executors' CPU in Verbatim's code, and in Spark's threads that move blocks, " + what,
        "%",
        side("verbatim", ours, jobs, EXECUTORS, CpuShares::oursPercent),
        side("sort", stock, jobs, EXECUTORS, CpuShares::sparkTransferPercent),
        goals,
        NOTE,
        null);
  }

  private Figure alone(
      String name,
      String what,
      List<Goal> goals,
      Predicate<String> roles,
      ToDoubleFunction<CpuShares> value) {
    return new Figure(
        name, what, "%", side("verbatim", ours, QUERIES, roles, value), null, goals, NOTE, null);
  }

  private static Side side(
      String label,
      List<ProfiledApplication> rounds,
      Predicate<String> jobs,
      Predicate<String> roles,
      ToDoubleFunction<CpuShares> value) {
    return new Side(
        label, rounds.stream().map(round -> value.applyAsDouble(round.sum(jobs, roles))).toList());
  }
}
