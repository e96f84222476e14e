package dev.verbatim.examples.report;

import java.time.Instant;
import java.time.temporal.ChronoUnit;

/**
 * Where and of what a figure was measured: files of figures are kept, moved and put together.
 *
 * @param machine the guest, where a guest measured
 * @param commit of what was measured
 * @param time when, ISO 8601
 */
public record Origin(Machine machine, String commit, String time) {
  /** The commit is what the environment variable {@code VERBATIM_COMMIT} says. */
  public static Origin here() {
    String commit = System.getenv("VERBATIM_COMMIT");
    return new Origin(
        Machine.here(), commit == null || commit.isBlank() ? "unknown" : commit, now());
  }

  static String now() {
    return Instant.now().truncatedTo(ChronoUnit.SECONDS).toString();
  }

  boolean isFrom(Machine otherMachine, String otherCommit) {
    return machine.equals(otherMachine) && commit.equals(otherCommit);
  }

  /** For people; without the time, which each figure of a bench has its own of. */
  String text() {
    return String.join("; ", machine.facts().values()) + "; commit " + commit;
  }
}
