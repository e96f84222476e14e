package dev.verbatim.examples;

import java.io.PrintStream;
import java.time.Duration;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.function.LongSupplier;

/**
 * Says how far a comparison is: a line for what has ended, and for what runs a line that is
 * overwritten each second on a terminal, or a line each minute elsewhere.
 */
final class Progress {
  private static final long MINUTE = Duration.ofMinutes(1).toNanos();
  private static final int ERROR_WIDTH = 160;
  private static final String CLEAR_LINE = "\r\033[K";

  /** How long something takes, by what is known of it. */
  private static final class Mean {
    private double seconds;
    private int count;

    void add(double one) {
      seconds += one;
      count++;
    }

    double or(double otherwise) {
      return count == 0 ? otherwise : seconds / count;
    }
  }

  private final PrintStream out;
  private final boolean terminal;
  private final LongSupplier nanoTime;
  private final int rounds;
  private final int labelWidth;
  private final int jobWidth;
  private final Map<String, Mean> jobMeans = new HashMap<>();
  private final Mean anyJob = new Mean();
  private final Mean start = new Mean();
  private final long began;

  private String label;
  private int round;
  private String job;
  private long since;
  private long said;

  /**
   * @param terminal whether lines can be overwritten
   * @param begun what was measured before, to estimate by
   */
  Progress(PrintStream out, boolean terminal, LongSupplier nanoTime, RunReport begun) {
    this.out = out;
    this.terminal = terminal;
    this.nanoTime = nanoTime;
    RunSettings settings = begun.settings();
    this.rounds = settings.rounds();
    this.labelWidth =
        settings.managers().stream().mapToInt(one -> one.label().length()).max().orElse(0);
    this.jobWidth = settings.jobs().stream().mapToInt(String::length).max().orElse(0);
    this.began = nanoTime.getAsLong();
    begun.applications().stream()
        .flatMap(report -> report.jobs().stream())
        .forEach(report -> measured(report.job(), report.seconds()));
  }

  private void measured(String name, double seconds) {
    jobMeans.computeIfAbsent(name, _ -> new Mean()).add(seconds);
    anyJob.add(seconds);
  }

  /** An application begins to start. */
  void applicationStarts(String manager, int ofRound, String log) {
    label = manager;
    round = ofRound;
    job = null;
    since = nanoTime.getAsLong();
    said = since;
    line("round %d of %d, %s: Spark starts, log %s", round, rounds, label, log);
  }

  /** Executors are there. */
  void applicationIsUp() {
    start.add((nanoTime.getAsLong() - since) / 1e9);
    line("round %d of %d, %s: executors are up", round, rounds, label);
  }

  /** A job begins. */
  void jobStarts(String name) {
    job = name;
    since = nanoTime.getAsLong();
    said = since;
    second();
  }

  /**
   * A job has ended.
   *
   * @param run with this job in it
   */
  void jobEnded(JobReport report, RunReport run) {
    measured(report.job(), (nanoTime.getAsLong() - since) / 1e9);
    job = null;
    StringBuilder text = new StringBuilder();
    text.append(
        String.format(
            Locale.ROOT,
            "%"
                + Integer.toString(run.planned()).length()
                + "d of %d  %-"
                + labelWidth
                + "s  round %d  %-"
                + jobWidth
                + "s  ",
            run.done(),
            run.planned(),
            label,
            round,
            report.job()));
    if (report.succeeded()) {
      text.append(
          String.format(
              Locale.ROOT,
              "%7.1f s %,9d rows %,9.1f MB shuffled",
              report.seconds(),
              report.rows(),
              report.shuffle().written() / 1e6));
      if (report.difference() != null) {
        text.append("  RESULT DIFFERS");
      }
    } else {
      String error = report.error().lines().findFirst().orElse("");
      text.append(String.format(Locale.ROOT, "FAILED after %.1f s: ", report.seconds()))
          .append(error, 0, Math.min(ERROR_WIDTH, error.length()));
    }
    if (run.done() < run.planned()) {
      text.append("  about ").append(clock(left(run))).append(" left");
    }
    line("%s", text);
  }

  /** Something to know. */
  void say(String text) {
    line("%s", text);
  }

  /** To be called about each second. */
  void second() {
    long now = nanoTime.getAsLong();
    String what =
        "round %d of %d, %s: %s for %s"
            .formatted(
                round,
                rounds,
                label,
                job == null ? "Spark starts or ends" : job + " runs",
                clock((now - since) / 1e9));
    if (terminal) {
      out.print(CLEAR_LINE + stamp() + what);
      out.flush();
    } else if (now - said >= MINUTE) {
      said = now;
      line("%s", what);
    }
  }

  /** Seconds that the rest will take, about, by what this has taken. */
  private double left(RunReport run) {
    double seconds = 0;
    for (ShuffleChoice manager : run.settings().managers()) {
      for (int i = 1; i <= rounds; i++) {
        if (run.find(manager.label(), i).isEmpty()) {
          seconds += start.or(0);
        }
        for (String open : run.open(manager.label(), i)) {
          Mean mean = jobMeans.get(open);
          seconds += mean == null ? anyJob.or(0) : mean.or(0);
        }
      }
    }
    return seconds;
  }

  private void line(String format, Object... values) {
    out.println((terminal ? CLEAR_LINE : "") + stamp() + format.formatted(values));
  }

  private String stamp() {
    return "[%7s] ".formatted(clock((nanoTime.getAsLong() - began) / 1e9));
  }

  /** Such as 0:07 or 1:02:03. */
  static String clock(double seconds) {
    Duration time = Duration.ofSeconds(Math.round(seconds));
    return time.toHours() > 0
        ? "%d:%02d:%02d".formatted(time.toHours(), time.toMinutesPart(), time.toSecondsPart())
        : "%d:%02d".formatted(time.toMinutes(), time.toSecondsPart());
  }
}
