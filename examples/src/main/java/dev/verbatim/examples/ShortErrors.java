package dev.verbatim.examples;

import java.io.IOException;
import picocli.CommandLine;

/** How the programs fail: exit code 2, and one message where it tells all that helps. */
public final class ShortErrors {
  private static final int FAILED = 2;

  private ShortErrors() {}

  /** Sets the handling of exceptions and returns the given command line. */
  public static CommandLine on(CommandLine line) {
    return line.setExecutionExceptionHandler(
        (e, command, _) -> {
          if (e instanceof IOException
              || e instanceof IllegalArgumentException
              || e instanceof InterruptedException) {
            command.getErr().println(command.getCommandName() + ": " + e.getMessage());
          } else {
            e.printStackTrace(command.getErr());
          }
          return FAILED;
        });
  }
}
