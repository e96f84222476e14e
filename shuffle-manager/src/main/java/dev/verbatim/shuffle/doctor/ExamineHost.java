package dev.verbatim.shuffle.doctor;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.SparkConf;
import org.apache.spark.util.Utils;

/**
 * Examines the host that it runs on, with the settings of {@code spark-defaults.conf} and {@code
 * rdma-site.xml}. Run by {@code spark-submit}, or by {@code java} with Spark's jars.
 */
public final class ExamineHost {
  /** The program could not do what it was asked; no verdict. */
  static final int FAILED = 3;

  private static final String USAGE =
      """
      Options: [--json] [--only CHECK,...] [--record FILE] [--replay FILE]
        --json         write JSON
        --only LIST    run these checks alone: %s
        --record FILE  keep what was seen, for a report of a fault
        --replay FILE  examine such a recording in place of this host
      Exit code: 0 nothing wrong was seen, 1 warnings, 2 problems, 3 wrong use, or the program failed.
      """;

  private ExamineHost() {}

  /** Names of all checks, in the order in which they run. */
  public static List<String> checks() {
    return Doctor.names();
  }

  /** Prints a report, and ends the process with its verdict. */
  public static void main(String[] arguments) {
    System.exit(run(arguments));
  }

  static int run(String... arguments) {
    try {
      Options options = Options.parse(arguments);
      if (options.help()) {
        System.out.print(USAGE.formatted(String.join(",", Doctor.names())));
        return 0;
      }
      SparkConf spark = new SparkConf();
      Utils.loadDefaultSparkProperties(spark, null);
      Report report = examine(options, settings(spark));
      System.out.print(options.json() ? Json.write(report) + "\n" : ReportText.of(report));
      return report.verdict().exitCode();
    } catch (RuntimeException e) {
      System.err.println("doctor: " + (e instanceof IllegalArgumentException ? e.getMessage() : e));
      return FAILED;
    }
  }

  private static Report examine(Options options, Settings settings) {
    Host host =
        options
            .replay()
            .<Host>map(file -> new RecordedHost(Recording.read(file)))
            .orElseGet(LiveHost::new);
    if (options.record().isEmpty()) {
      return Doctor.examine(host, settings, options.only());
    }
    RecordingHost recorder = new RecordingHost(host);
    Report report = Doctor.examine(recorder, settings, options.only());
    recorder.recording().write(options.record().get());
    return report;
  }

  private static Settings settings(SparkConf spark) {
    List<Path> folders = Arrays.stream(Utils.getConfiguredLocalDirs(spark)).map(Path::of).toList();
    return Settings.of(spark, spark.get("spark.shuffle.manager", ""), folders);
  }
}
