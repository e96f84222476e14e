package dev.verbatim.bench;

import dev.verbatim.examples.report.Figure;
import dev.verbatim.examples.report.FigureFile;
import java.io.IOException;
import java.nio.file.Path;
import picocli.CommandLine.Option;

/** What all benches take: how many rounds, and where the figures go besides the terminal. */
public final class FigureOptions {
  @Option(
      names = "--rounds",
      defaultValue = "5",
      description = "Rounds; every other one begins with the other side (default: 5).")
  private int rounds;

  @Option(names = "--json", description = "File to which figures are added, one a line.")
  private Path file;

  /**
   * Rounds to measure.
   *
   * @throws IllegalArgumentException when it is not from 1 to 1000
   */
  public int rounds() {
    if (rounds < 1 || rounds > 1000) {
      throw new IllegalArgumentException("--rounds " + rounds + " is not from 1 to 1000");
    }
    return rounds;
  }

  /** Prints a figure, and adds it to the file where one is asked for. */
  public void add(Figure figure) throws IOException {
    String against =
        figure.against() == null
            ? ""
            : String.format(
                ", %s %s; ratio %s",
                figure.against().label(), figure.against().spread(), figure.ratio());
    System.out.printf(
        "%s, %s: %s %s%s %s%n",
        figure.name(),
        figure.unit(),
        figure.ours().label(),
        figure.ours().spread(),
        against,
        figure.verdict());
    if (file != null) {
      FigureFile.append(file, figure);
    }
  }
}
