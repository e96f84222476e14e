package dev.verbatim.examples;

import dev.verbatim.examples.report.Figure;
import dev.verbatim.examples.report.FigureFile;
import dev.verbatim.examples.report.Goal;
import dev.verbatim.examples.report.Machine;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Runs TPC-DS queries and other jobs under several shuffle managers, compares the results and the
 * times, and makes a page of them.
 */
@Command(
    name = "CompareShuffles",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description = {
      "Runs TPC-DS queries and other jobs under each shuffle manager, in one Spark application",
      "and JVM per manager and round, and compares all results of a job with its first one.",
      "Exit code: 0 all results equal, 1 results differ, 2 wrong use or Spark does not start,",
      "3 a job failed; the others were run nevertheless."
    })
public final class CompareShuffles implements Callable<Integer> {
  private static final int DIFFERENT = 1;
  private static final int JOB_FAILED = 3;
  private static final Pattern LOCAL_CLUSTER =
      Pattern.compile("local-cluster\\[\\s*\\d+\\s*,\\s*\\d+\\s*,\\s*(\\d+)\\s*]");

  @Option(
      names = "--tpcds-jar",
      description = "spark-sql's jar with classifier 'tests': the queries.")
  private Path tpcdsJar;

  @Option(names = "--data", description = "Folder that GenerateTpcds wrote, for queries.")
  private Path data;

  @Option(
      names = {"--jobs", "--queries"},
      split = ",",
      defaultValue = "q11,q39a,q72,q80,q93",
      description = {
        "TPC-DS queries, all (of the queries), terasort:RECORDSxPARTITIONS (records of",
        "100 bytes), and blocks:MAPSxREDUCERS (a record in each block), in order",
        "(default: ${DEFAULT-VALUE})."
      })
  private List<String> jobs;

  @Option(
      names = "--managers",
      split = ",",
      defaultValue = "sort,verbatim",
      description = "Shuffle managers: sort, verbatim or class names; the first is the reference.")
  private List<String> managers;

  @Option(names = "--rounds", defaultValue = "1", description = "Rounds; every other reversed.")
  private int rounds;

  @Option(
      names = "--master",
      defaultValue = "local-cluster[2,1,1536]",
      description = "Spark master (default: ${DEFAULT-VALUE}).")
  private String master;

  @Option(names = "--conf", description = "Further Spark setting, KEY=VALUE; may be repeated.")
  private Map<String, String> settings = Map.of();

  @Option(names = "--plugin-jar", description = "Verbatim's jar, for the executors' class path.")
  private Path pluginJar;

  @Option(
      names = "--jvm-flags",
      split = " ",
      description = "JVM flags for driver and executors, in one argument.")
  private List<String> jvmFlags = List.of();

  @Option(names = "--driver-memory", defaultValue = "1g", description = "Driver's heap.")
  private String driverMemory;

  @Option(
      names = "--timeout",
      defaultValue = "30",
      description = {
        "Minutes that a job, or the start of Spark, may take; then it has failed",
        "(default: ${DEFAULT-VALUE})."
      })
  private int timeoutMinutes;

  @Option(
      names = "--rdma-only",
      description = "Fail unless Verbatim's executors read each other's data by RDMA alone.")
  private boolean rdmaOnly;

  @Option(
      names = "--keep-limit",
      description = {
        "Keep the queries' outermost LIMIT. By default it is dropped, so that the whole result",
        "is compared: rows tied at the cut differ between two right runs."
      })
  private boolean keepLimit;

  @Option(
      names = "--logs",
      defaultValue = "work/logs",
      description = {
        "Folder for the drivers' logs, and the first result of each job",
        "(default: ${DEFAULT-VALUE})."
      })
  private Path logs;

  @Option(
      names = "--json",
      description = "File for everything that was measured, written again after each job.")
  private Path jsonFile;

  @Option(
      names = "--html",
      description = "The same as a page of tables and charts that needs nothing else.")
  private Path htmlFile;

  @Option(
      names = "--resume",
      description = {
        "Go on with a run that was interrupted, with the same options: what is in its --json",
        "file is not run again, but for jobs that failed."
      })
  private boolean resume;

  @Option(names = "--commit", description = "Commit of what is measured, to be shown.")
  private String commit;

  @Option(names = "--figures", description = "File to add figures to, as scripts/bench reads them.")
  private Path figureFile;

  @Option(
      names = "--figure-prefix",
      defaultValue = "",
      description = "What the figures' names begin with.")
  private String figurePrefix;

  @Option(
      names = "--figure-goal",
      description = {
        "A goal of the figure of all jobs' time, such as 'ratio <= 1 within noise'; may be",
        "repeated."
      })
  private List<String> figureGoals = List.of();

  @Option(
      names = "--profile",
      description = {
        "Folder for a recording of where each process spends CPU time; ReadProfiles reads them.",
        "Executors must be on this host."
      })
  private Path profiles;

  /** Command line entry. */
  public static void main(String[] arguments) {
    System.exit(commandLine().execute(arguments));
  }

  static CommandLine commandLine() {
    // Scripts set some, and whoever calls them may set them again.
    return ShortErrors.on(
        new CommandLine(new CompareShuffles()).setOverwrittenOptionsAllowed(true));
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    checkOptions();
    RunSettings settings = settings();
    RunFiles files = new RunFiles(jsonFile, htmlFile);
    FirstResults results = new FirstResults(logs.resolve("results").toAbsolutePath());
    RunReport begun = begun(settings, files);
    results.checkHas(begun);
    Files.createDirectories(logs);
    if (!resume) {
      results.clear();
      removeLogs(settings);
    }
    boolean terminal = System.console() != null && System.console().isTerminal();
    ComparisonRun.Places places =
        new ComparisonRun.Places(
            absolute(tpcdsJar),
            logs,
            results.folder(),
            profiles,
            Duration.ofMinutes(timeoutMinutes));
    Progress progress = new Progress(System.out, terminal, System::nanoTime, begun);
    return report(new ComparisonRun(begun, places, files, progress).run());
  }

  /** What there is to go on with. */
  private RunReport begun(RunSettings settings, RunFiles files) throws IOException {
    if (!resume) {
      String now = Instant.now().truncatedTo(ChronoUnit.SECONDS).toString();
      return new RunReport(settings, Machine.here(), now, List.of());
    }
    RunReport begun = files.read();
    settings.redacted().checkSame(begun.settings());
    return begun.succeeded(settings);
  }

  /** Those of an earlier run, since logs are added to. */
  private void removeLogs(RunSettings settings) throws IOException {
    for (ShuffleChoice manager : settings.managers()) {
      for (int round = 1; round <= settings.rounds(); round++) {
        Files.deleteIfExists(logs.resolve(manager.label() + "-" + round + ".log"));
      }
    }
  }

  /** Finds what would fail after a minute of starting Spark. */
  private void checkOptions() {
    // Reports and logs are told apart by the labels.
    long different =
        managers.stream().map(ShuffleChoice::parse).map(ShuffleChoice::label).distinct().count();
    if (different < Math.max(2, managers.size()) || rounds < 1 || timeoutMinutes < 1) {
      throw new IllegalArgumentException(
          "--managers needs two or more different names, without packages too, --rounds and --timeout at least 1");
    }
    if (pluginJar != null && !Files.isRegularFile(pluginJar)) {
      throw new IllegalArgumentException("No file " + pluginJar);
    }
    goals();
  }

  private List<Goal> goals() {
    return figureGoals.stream().map(Goal::parse).toList();
  }

  RunSettings settings() throws IOException {
    JobNames names = new JobNames(tpcdsJar, data, keepLimit);
    List<String> expanded = names.expand(jobs);
    for (String job : expanded) {
      names.parse(job);
    }
    return new RunSettings(
        expanded,
        managers.stream().map(ShuffleChoice::parse).toList(),
        rounds,
        master,
        configuration(),
        data == null ? null : data.toAbsolutePath().toString(),
        keepLimit,
        jvmFlags,
        driverMemory,
        commit);
  }

  private static Path absolute(Path path) {
    return path == null ? null : path.toAbsolutePath();
  }

  /** The same for all managers but for {@code spark.shuffle.manager}. */
  private Map<String, String> configuration() {
    Map<String, String> configuration = new LinkedHashMap<>();
    configuration.put("spark.sql.adaptive.enabled", "true");
    configuration.put("spark.sql.autoBroadcastJoinThreshold", "-1");
    // Executors of one host would read each other's files and not use the network.
    configuration.put("spark.shuffle.readHostLocalDisk", "false");
    configuration.put("spark.scheduler.minRegisteredResourcesRatio", "1.0");
    configuration.put("spark.scheduler.maxRegisteredResourcesWaitingTime", "300s");
    configuration.put("spark.ui.enabled", "false");
    Matcher cluster = LOCAL_CLUSTER.matcher(master);
    if (cluster.matches()) {
      configuration.put("spark.executor.memory", cluster.group(1) + "m");
    }
    if (!jvmFlags.isEmpty()) {
      configuration.put("spark.executor.extraJavaOptions", String.join(" ", jvmFlags));
    }
    if (pluginJar != null) {
      configuration.put("spark.executor.extraClassPath", pluginJar.toAbsolutePath().toString());
    }
    // The executors' way to the code of jobs that are no queries.
    configuration.put("spark.jars", JobApplication.jar().toString());
    configuration.putAll(settings);
    configuration.remove("spark.shuffle.manager");
    return configuration;
  }

  private int report(RunReport run) throws IOException {
    List<Comparison> comparisons = run.comparisons();
    String reference = run.settings().reference().label();
    for (Comparison comparison : comparisons) {
      System.out.println();
      System.out.print(ComparisonTable.format(comparison));
      ApplicationReport last = run.rounds(comparison.other()).getLast();
      last.modes().forEach(mode -> System.out.println("Executors: " + mode));
      if (!last.fallbacks().isEmpty()) {
        System.out.println("Blocks left to TCP, by reason: " + last.fallbacks());
      }
    }
    System.out.printf(
        "%nTimes: median of %d round(s). Ratio: above 1 is slower than %s. Results: any order of"
            + " rows; doubles within %s.%n",
        rounds, reference, ResultComparison.TOLERANCE);
    if (htmlFile != null) {
      System.out.println("The page: " + htmlFile.toAbsolutePath());
    }
    if (run.failed() == 0) {
      check(run);
    }
    if (comparisons.stream().anyMatch(one -> one.count(JobComparison.Outcome.DIFFERENT) > 0)) {
      return DIFFERENT;
    }
    return run.failed() == 0 ? 0 : JOB_FAILED;
  }

  /** What is asked for of a run whose jobs all succeeded. */
  private void check(RunReport run) throws IOException {
    List<ShuffleChoice> others = run.settings().others();
    if (figureFile != null) {
      List<ApplicationReport> reference = run.rounds(run.settings().reference().label());
      for (Figure figure :
          ComparisonFigures.of(
              reference, run.rounds(others.getFirst().label()), figurePrefix, goals())) {
        FigureFile.append(figureFile, figure);
      }
    }
    if (rdmaOnly) {
      for (ShuffleChoice other : others) {
        RdmaOnly.check(run.rounds(other.label()));
      }
    }
  }
}
