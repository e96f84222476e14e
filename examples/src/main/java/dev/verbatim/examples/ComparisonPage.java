package dev.verbatim.examples;

import dev.verbatim.examples.report.BarChart;
import dev.verbatim.examples.report.BarChart.Bars;
import dev.verbatim.examples.report.Figure;
import dev.verbatim.examples.report.FigureCharts;
import dev.verbatim.examples.report.Page;
import dev.verbatim.examples.report.Spread;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;

/** A comparison as a page of charts, each with a table of the same beside it. */
final class ComparisonPage {
  private static final String NOTHING = "–";

  private final Page page;
  private final Comparison comparison;
  private final String reference;
  private final String other;
  private final List<JobComparison> compared;

  private ComparisonPage(Page page, Comparison comparison) {
    this.page = page;
    this.comparison = comparison;
    this.reference = comparison.reference();
    this.other = comparison.other();
    this.compared = comparison.jobs().stream().filter(JobComparison::compared).toList();
  }

  /** All that has been measured so far. */
  static Page of(RunReport run) {
    Page page = new Page("Verbatim: comparison of shuffles", facts(run));
    for (Comparison comparison : run.comparisons()) {
      new ComparisonPage(page, comparison).add();
    }
    page.section("Settings", "Of Spark, the same for all shuffle managers.");
    page.table(
        List.of("setting", "value"),
        run.settings().configuration().entrySet().stream()
            .map(setting -> List.of(setting.getKey(), setting.getValue()))
            .toList());
    return page;
  }

  private static Map<String, String> facts(RunReport run) {
    RunSettings settings = run.settings();
    Map<String, String> facts = new LinkedHashMap<>();
    String done = run.done() + " of " + run.planned() + " runs of jobs";
    facts.put(
        "State",
        (run.done() == run.planned() ? "complete, " : "NOT COMPLETE, ")
            + done
            + (run.failed() == 0 ? "" : ", " + run.failed() + " FAILED"));
    facts.put("Started", run.started());
    facts.put("Commit", Objects.requireNonNullElse(settings.commit(), "not told"));
    facts.put("Rounds", settings.rounds() + ", every other one with the managers reversed");
    facts.put("Master", settings.master());
    if (settings.data() != null) {
      facts.put("TPC-DS data", settings.data());
    }
    facts.put(
        "Spark",
        run.applications().stream()
            .map(ApplicationReport::facts)
            .filter(Objects::nonNull)
            .map(SparkFacts::version)
            .distinct()
            .collect(Collectors.joining(", ")));
    facts.putAll(run.machine().facts());
    facts.put(
        "JVM flags", "-Xmx" + settings.driverMemory() + " of the driver, " + settings.jvmFlags());
    for (ShuffleChoice manager : settings.managers()) {
      facts.put("Manager " + manager.label(), manager.className());
    }
    String modes =
        run.applications().stream()
            .flatMap(report -> report.modes().stream())
            .distinct()
            .collect(Collectors.joining("; "));
    facts.put("Executors", modes.isEmpty() ? "said nothing of RDMA" : modes);
    return facts;
  }

  private void add() {
    addSummary();
    addProblems();
    if (!compared.isEmpty()) {
      addTimes();
      addRatios();
      addBytes();
      addShare();
    }
    addFallbacks();
  }

  private void addSummary() {
    page.section(
        other + " against " + reference,
        ComparisonTable.overall(comparison)
            + "Results: "
            + Arrays.stream(JobComparison.Outcome.values())
                .filter(outcome -> comparison.count(outcome) > 0)
                .map(outcome -> comparison.count(outcome) + " " + outcome.text())
                .collect(Collectors.joining(", "))
            + ". OK is: the same rows, equally often, in any order, in all rounds of both.\n"
            + "Times are the median of the rounds, with their range; a ratio is that of the two"
            + " times of a round, above 1 where "
            + other
            + " took longer. A difference within the range is none.");
    Comparison.Overall all = comparison.overall();
    if (all.jobs() > 0) {
      page.table(
          List.of("all jobs", reference, other, other + " / " + reference),
          List.of(
              List.of(
                  "sum of the times, s",
                  Spread.number(all.seconds()),
                  Spread.number(all.otherSeconds()),
                  Spread.number(all.otherSeconds() / all.seconds())),
              List.of("geometric mean of the ratios", "", "", Spread.number(all.geometricMean())),
              List.of(
                  "shuffle's share of the tasks' time, %",
                  percent(all.shuffle()), percent(all.otherShuffle()), "")));
    }
  }

  private void addProblems() {
    List<List<String>> problems = new ArrayList<>();
    for (JobComparison job : comparison.jobs()) {
      for (JobComparison.Problem problem : job.problems()) {
        problems.add(
            List.of(
                job.job(),
                problem.manager(),
                Integer.toString(problem.round()),
                problem.failed() ? "FAILED" : "DIFFERENT",
                problem.text()));
      }
    }
    if (!problems.isEmpty()) {
      page.section(
          "What failed or differed",
          "A result differs from the first one that its job had in this run, under whichever manager.");
      page.table(List.of("job", "manager", "round", "outcome", "error or difference"), problems);
    }
  }

  private void addTimes() {
    page.section("Times", "From handing a job to Spark until all of its result was at the driver.");
    show(
        new BarChart(
            "Time, median of the rounds",
            "s",
            names(),
            List.of(
                new Bars(reference, null, values(job -> job.reference().seconds().median())),
                new Bars(other, null, values(job -> job.other().seconds().median())))),
        List.of("job", reference + ", s", other + ", s", "rows", "result"),
        comparison.jobs().stream().map(this::timeRow).toList());
  }

  private List<String> timeRow(JobComparison job) {
    return List.of(
        job.job(),
        job.compared() ? job.reference().seconds().toString() : NOTHING,
        job.compared() ? job.other().seconds().toString() : NOTHING,
        job.rows() == null ? NOTHING : Spread.number(job.rows()),
        job.outcome().text());
  }

  private void addRatios() {
    List<Figure> figures =
        compared.stream()
            .map(
                job ->
                    new Figure(
                        job.job(),
                        "Time",
                        "s",
                        new Figure.Side(other, job.other().times()),
                        new Figure.Side(reference, job.reference().times()),
                        List.of(),
                        null,
                        null))
            .toList();
    page.section("Ratios", "Ours is " + other + ", against " + reference + ".");
    page.chartWithTable(
        FigureCharts.ratioHeight(figures),
        FigureCharts.ratiosNearOne(figures),
        List.of("job", "ratio", "of rounds"),
        compared.stream()
            .map(
                job ->
                    List.of(
                        job.job(),
                        job.ratio().toString(),
                        Integer.toString(job.other().times().size())))
            .toList());
  }

  private void addBytes() {
    page.section(
        "Shuffled bytes by transport",
        "Blocks that came from another executor, mean of a round, compressed as they are moved;"
            + " for "
            + reference
            + " what Spark counts, for "
            + other
            + " what its executors count by carrier.");
    show(
        new BarChart(
            "From other executors",
            "MB",
            names(),
            List.of(
                new Bars(reference + " by TCP", reference, values(ComparisonPage::tcpOfReference)),
                new Bars(other + " by RDMA", other, values(job -> carried(job, true))),
                new Bars(other + " by TCP", other, values(job -> carried(job, false))))),
        List.of(
            "job",
            "map output, MB",
            "own executor's, MB",
            reference + " by TCP, MB",
            other + " by RDMA, MB",
            other + " by TCP, MB"),
        compared.stream()
            .map(
                job ->
                    List.of(
                        job.job(),
                        number(job.other().megabytes(job.other().shuffle().written())),
                        number(job.other().megabytes(job.other().shuffle().local())),
                        number(tcpOfReference(job)),
                        number(carried(job, true)),
                        number(carried(job, false))))
            .toList());
  }

  private static Double tcpOfReference(JobComparison job) {
    return job.reference().megabytes(job.reference().shuffle().remote());
  }

  /** Null if not counted. */
  private static Double carried(JobComparison job, boolean rdma) {
    TransferBytes transfer = job.other().transfer();
    return transfer == null ? null : job.other().megabytes(rdma ? transfer.rdma() : transfer.tcp());
  }

  private void addShare() {
    page.section(
        "Shuffle's share of the time",
        "Time that tasks waited for blocks of other executors or wrote map output, by the time that"
            + " they ran, as Spark's task metrics tell. What another shuffle can save is less than"
            + " the waiting.");
    show(
        new BarChart(
            "Waiting and writing, of the tasks' time",
            "%",
            names(),
            List.of(
                new Bars(reference, null, values(job -> 100 * job.reference().shuffleShare())),
                new Bars(other, null, values(job -> 100 * job.other().shuffleShare())))),
        List.of(
            "job",
            reference + ", %",
            other + ", %",
            reference + ": wait / write / tasks, s",
            other + ": wait / write / tasks, s"),
        compared.stream()
            .map(
                job ->
                    List.of(
                        job.job(),
                        percent(job.reference().shuffle()),
                        percent(job.other().shuffle()),
                        parts(job.reference()),
                        parts(job.other())))
            .toList());
  }

  private static String parts(JobSide side) {
    ShuffleBytes shuffle = side.shuffle();
    double millis = 1e3 * side.times().size();
    return number(shuffle.fetchWaitMillis() / millis)
        + " / "
        + number(shuffle.writeMillis() / millis)
        + " / "
        + number(shuffle.taskMillis() / millis);
  }

  private void addFallbacks() {
    Map<String, Long> blocks = new TreeMap<>();
    Map<String, TreeSet<String>> jobs = new TreeMap<>();
    for (JobComparison job : compared) {
      job.other()
          .fallbacks()
          .forEach(
              (reason, count) -> {
                blocks.merge(reason, count, Long::sum);
                jobs.computeIfAbsent(reason, _ -> new TreeSet<>()).add(job.job());
              });
    }
    page.section(
        "Fallback reasons",
        blocks.isEmpty()
            ? "No block was left to TCP for a reason that " + other + " tells."
            : "Blocks that were left to TCP, all rounds, and why; the configuration reference tells"
                + " what helps.");
    if (blocks.isEmpty()) {
      return;
    }
    List<String> reasons = List.copyOf(blocks.keySet());
    show(
        new BarChart(
            "Left to TCP",
            "blocks",
            reasons,
            List.of(
                new Bars(
                    other,
                    null,
                    reasons.stream().map(reason -> blocks.get(reason).doubleValue()).toList()))),
        List.of("reason", "blocks", "jobs"),
        reasons.stream()
            .map(
                reason ->
                    List.of(
                        reason,
                        Spread.number(blocks.get(reason)),
                        Integer.toString(jobs.get(reason).size())))
            .toList());
    page.table(
        List.of("job", "blocks left to TCP, by reason"),
        compared.stream()
            .map(
                job ->
                    List.of(
                        job.job(),
                        job.other().fallbacks().entrySet().stream()
                            .map(entry -> entry.getKey() + " " + Spread.number(entry.getValue()))
                            .collect(Collectors.joining(", "))))
            .toList());
  }

  private void show(BarChart chart, List<String> columns, List<List<String>> rows) {
    page.chartWithTable(chart.height(), chart.option(), columns, rows);
  }

  private List<String> names() {
    return compared.stream().map(JobComparison::job).toList();
  }

  private List<Double> values(Function<JobComparison, Double> value) {
    return compared.stream().map(value).toList();
  }

  private static String number(Double value) {
    return value == null ? NOTHING : Spread.number(value);
  }

  private static String percent(ShuffleBytes shuffle) {
    return Spread.number(100 * shuffle.shareOfTaskTime());
  }
}
