package dev.verbatim.shuffle.doctor;

import dev.verbatim.shuffle.fallback.FallbackReason;
import java.util.List;

/**
 * Examines the host that it runs on, with the settings of {@code spark-defaults.conf} and {@code
 * rdma-site.xml}. Run by {@code spark-submit}, or by {@code java} with Spark's jars. Knows no class
 * of Spark by itself, or a JVM without them would not get as far as to say so.
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
      What a check that --only names could not see is a warning.
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
      Report report = examine(options, Settings.ofThisHost());
      System.out.print(options.json() ? Json.write(report) + "\n" : ReportText.of(report));
      return report.verdict().exitCode();
    } catch (Throwable e) {
      return failed(e);
    }
  }

  /**
   * Says why a program comes to no verdict. Whatever it was: a JVM that ends by itself ends with
   * the code of warnings, and Scala throws checked exceptions that it does not declare.
   */
  static int failed(Throwable failure) {
    boolean otherSpark =
        failure instanceof NoClassDefFoundError || failure instanceof IncompatibleClassChangeError;
    System.err.println(
        "doctor: "
            + (failure instanceof IllegalArgumentException ? failure.getMessage() : failure)
            + (otherSpark
                ? "; the jars of Spark on the class path do not fit: "
                    + FallbackReason.SPARK_VERSION.remedy()
                    + " (SPARK_HOME)"
                : ""));
    return FAILED;
  }

  private static Report examine(Options options, Settings settings) {
    Host host =
        options
            .replay()
            .<Host>map(file -> new RecordedHost(Recording.read(file)))
            .orElseGet(LiveHost::new);
    if (options.record().isEmpty()) {
      return Doctor.examine(host, settings, options.only()).asked(options.only());
    }
    RecordingHost recorder = new RecordingHost(host);
    Report report = Doctor.examine(recorder, settings, options.only());
    recorder.recording().write(options.record().get());
    return report.asked(options.only());
  }
}
