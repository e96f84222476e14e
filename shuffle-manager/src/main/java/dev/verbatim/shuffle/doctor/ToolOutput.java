package dev.verbatim.shuffle.doctor;

/**
 * What a tool of the system has printed.
 *
 * @param exit its exit code; {@link #ABSENT} where there is no such tool, {@link #LATE} where it
 *     did not end in time
 * @param text both of its outputs
 */
record ToolOutput(int exit, String text) {
  static final int ABSENT = 127;
  static final int LATE = 124;

  boolean succeeded() {
    return exit == 0;
  }

  /** Why there is no output to look at. */
  String failure(String tool) {
    return switch (exit) {
      case ABSENT -> "there is no " + tool + " on this host";
      case LATE -> tool + " did not end in time";
      default -> tool + " failed (" + exit + "): " + text.lines().findFirst().orElse("no word");
    };
  }
}
