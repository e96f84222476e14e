package dev.verbatim.shuffle.doctor;

/**
 * Examines the hosts of all executors, as the executors see them, and READs between hosts. A Spark
 * application, for {@code spark-submit}. Knows no class of Spark by itself, or a JVM without them
 * would not get as far as to say so.
 */
public final class ExamineExecutors {
  private static final String USAGE =
      """
      Options: [--json] [--only CHECK,...] [--pairs]
        --json         write JSON
        --only LIST    run these checks alone: %s
        --pairs        READ between all pairs of hosts, too
      Exit code: 0 nothing wrong was seen, 1 warnings, 2 problems, 3 wrong use, or the program failed.
      What was asked for, by --only too, and could not be examined is a warning.
      """;

  private ExamineExecutors() {}

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
      if (options.record().isPresent() || options.replay().isPresent()) {
        throw new IllegalArgumentException("--record and --replay are for one host");
      }
      ClusterReport report = ClusterExamination.examine(options);
      System.out.print(options.json() ? Json.write(report) + "\n" : ClusterText.of(report));
      return report.verdict().exitCode();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return ExamineHost.failed(e);
    } catch (Throwable e) {
      return ExamineHost.failed(e);
    }
  }
}
