package dev.verbatim.examples;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.verbatim.examples.profile.JobProfiler;
import dev.verbatim.examples.report.Figure;
import dev.verbatim.examples.report.FigureFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
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
 * Runs TPC-DS queries and other jobs under several shuffle managers, compares the results and
 * prints the times.
 */
@Command(
    name = "CompareShuffles",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description = {
      "Runs TPC-DS queries and other jobs under each shuffle manager, in one Spark application",
      "and JVM per manager and round, and compares the results with those of the first manager.",
      "Exit code: 0 all results equal, 1 results differ, 2 wrong use or a run failed."
    })
public final class CompareShuffles implements Callable<Integer> {
  private static final int DIFFERENT = 1;
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
        "TPC-DS queries, terasort:RECORDSxPARTITIONS (records of 100 bytes), and",
        "blocks:MAPSxREDUCERS (a record in each block), in order",
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
      description = "Minutes that one application may take (default: ${DEFAULT-VALUE}).")
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
      description = "Folder for the drivers' logs (default: ${DEFAULT-VALUE}).")
  private Path logs;

  @Option(names = "--json", description = "File for everything that was measured.")
  private Path jsonFile;

  @Option(names = "--figures", description = "File to add figures to, as scripts/bench reads them.")
  private Path figureFile;

  @Option(
      names = "--figure-prefix",
      defaultValue = "",
      description = "What the figures' names begin with.")
  private String figurePrefix;

  @Option(
      names = "--profile",
      description = {
        "Folder for a recording of where each process spends CPU time; ReadProfiles reads them.",
        "Executors must be on this host."
      })
  private Path profiles;

  private final ObjectMapper json = new ObjectMapper();

  /** Command line entry. */
  public static void main(String[] arguments) {
    System.exit(commandLine().execute(arguments));
  }

  static CommandLine commandLine() {
    return ShortErrors.on(new CommandLine(new CompareShuffles()));
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    checkOptions();
    List<ShuffleChoice> choices = managers.stream().map(ShuffleChoice::parse).toList();
    Files.createDirectories(logs);
    Map<ShuffleChoice, List<ApplicationReport>> reports = new LinkedHashMap<>();
    choices.forEach(choice -> reports.put(choice, new ArrayList<>()));
    for (int round = 1; round <= rounds; round++) {
      for (ShuffleChoice choice : round % 2 == 1 ? choices : choices.reversed()) {
        reports.get(choice).add(run(choice, round));
      }
    }
    return report(choices, reports);
  }

  /** Finds what would fail after a minute of starting Spark. */
  private void checkOptions() throws IOException {
    if (managers.size() < 2 || rounds < 1 || timeoutMinutes < 1) {
      throw new IllegalArgumentException(
          "--managers needs two or more names, --rounds and --timeout at least 1");
    }
    if (pluginJar != null && !Files.isRegularFile(pluginJar)) {
      throw new IllegalArgumentException("No file " + pluginJar);
    }
    JobNames names = new JobNames(tpcdsJar, data, keepLimit);
    for (String job : jobs) {
      names.parse(job);
    }
  }

  private ApplicationReport run(ShuffleChoice choice, int round)
      throws IOException, InterruptedException {
    System.out.printf("Round %d of %d, spark.shuffle.manager=%s%n", round, rounds, choice.label());
    Path request = Files.createTempFile("request", ".json");
    Path report = Files.createTempFile("report", ".json");
    try {
      List<String> flags = new ArrayList<>(jvmFlags);
      Path profile = null;
      if (profiles != null) {
        profile = profiles.resolve(choice.label() + "-" + round).toAbsolutePath();
        Files.createDirectories(profile);
        flags.addAll(JobProfiler.flags(profile));
      }
      json.writeValue(
          request.toFile(),
          new ApplicationRequest(
              choice.label(),
              master,
              configuration(choice, flags),
              absolute(tpcdsJar),
              absolute(data),
              jobs,
              keepLimit,
              profile));
      new SparkJvm(driverMemory, flags, Duration.ofMinutes(timeoutMinutes))
          .run(
              JobApplication.class.getName(),
              List.of(request.toString(), report.toString()),
              logs.resolve(choice.label() + "-" + round + ".log"));
      ApplicationReport done = json.readValue(report.toFile(), ApplicationReport.class);
      if (!done.shuffleManager().equals(choice.className())) {
        throw new IOException(
            "Spark ran " + done.shuffleManager() + " where " + choice.className() + " was set");
      }
      return done;
    } finally {
      Files.delete(request);
      Files.delete(report);
    }
  }

  private static Path absolute(Path path) {
    return path == null ? null : path.toAbsolutePath();
  }

  /** The same for all managers but for {@code spark.shuffle.manager}. */
  private Map<String, String> configuration(ShuffleChoice choice, List<String> flags) {
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
    if (!flags.isEmpty()) {
      configuration.put("spark.executor.extraJavaOptions", String.join(" ", flags));
    }
    if (pluginJar != null) {
      configuration.put("spark.executor.extraClassPath", pluginJar.toAbsolutePath().toString());
    }
    // The executors' way to the code of jobs that are no queries.
    configuration.put("spark.jars", JobApplication.jar().toString());
    configuration.putAll(settings);
    configuration.put("spark.shuffle.manager", choice.className());
    return configuration;
  }

  private int report(
      List<ShuffleChoice> choices, Map<ShuffleChoice, List<ApplicationReport>> reports)
      throws IOException {
    ShuffleChoice reference = choices.getFirst();
    Map<String, List<Comparison>> comparisons = new LinkedHashMap<>();
    for (ShuffleChoice other : choices.subList(1, choices.size())) {
      List<Comparison> pairs = Comparison.of(reports.get(reference), reports.get(other));
      comparisons.put(other.label(), pairs);
      System.out.println();
      System.out.print(ComparisonTable.format(reference.label(), other.label(), pairs));
      pairs.stream()
          .filter(pair -> !pair.same())
          .forEach(pair -> System.out.println(pair.job() + ": " + pair.difference()));
      ApplicationReport last = reports.get(other).getLast();
      last.modes().forEach(mode -> System.out.println("Executors: " + mode));
      if (!last.fallbacks().isEmpty()) {
        System.out.println("Blocks left to TCP, by reason: " + last.fallbacks());
      }
    }
    System.out.printf(
        "%nTimes: median of %d round(s). Ratio: above 1 is slower than %s. Results: any order of"
            + " rows; doubles within %s.%n",
        rounds, reference.label(), ResultComparison.TOLERANCE);
    if (jsonFile != null) {
      json.writerWithDefaultPrettyPrinter()
          .writeValue(
              jsonFile.toFile(),
              Map.of("comparisons", comparisons, "applications", reports.values()));
    }
    if (figureFile != null) {
      for (Figure figure :
          ComparisonFigures.of(reports.get(reference), reports.get(choices.get(1)), figurePrefix)) {
        FigureFile.append(figureFile, figure);
      }
    }
    if (rdmaOnly) {
      for (ShuffleChoice other : choices.subList(1, choices.size())) {
        RdmaOnly.check(reports.get(other));
      }
    }
    boolean same = comparisons.values().stream().flatMap(List::stream).allMatch(Comparison::same);
    return same ? 0 : DIFFERENT;
  }
}
