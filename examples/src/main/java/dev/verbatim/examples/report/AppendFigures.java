package dev.verbatim.examples.report;

import dev.verbatim.examples.ShortErrors;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** Adds the figures that a shell script has measured on this machine to a file, with origin. */
@Command(
    name = "AppendFigures",
    mixinStandardHelpOptions = true,
    description =
        "Adds figures that were measured here to a file, with machine and VERBATIM_COMMIT."
            + " Exit code 2: failed.")
public final class AppendFigures implements Callable<Integer> {
  @Parameters(index = "0", paramLabel = "FROM", description = "Figures without origin.")
  private Path from;

  @Parameters(index = "1", paramLabel = "FILE", description = "File to add to.")
  private Path file;

  /** Command line entry. */
  public static void main(String[] arguments) {
    System.exit(commandLine().execute(arguments));
  }

  static CommandLine commandLine() {
    return ShortErrors.on(new CommandLine(new AppendFigures()));
  }

  @Override
  public Integer call() throws IOException {
    for (Figure figure : FigureFile.read(from)) {
      FigureFile.append(file, figure);
    }
    return 0;
  }
}
