package dev.verbatim.examples.profile;

import dev.verbatim.examples.ShortErrors;
import dev.verbatim.examples.report.Figure;
import dev.verbatim.examples.report.FigureFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Says where the CPU time of jobs went that {@code CompareShuffles --profile} has recorded. */
@Command(
    name = "ReadProfiles",
    mixinStandardHelpOptions = true,
    description = {
      "Prints what part of the CPU time of each process is Verbatim's, by thread, package and",
      "method, and draws a flame graph for each shuffle manager. Exit code 2: failed."
    })
public final class ReadProfiles implements Callable<Integer> {
  private static final String OURS = "verbatim";
  private static final String STOCK = "sort";

  @Parameters(paramLabel = "FOLDER", description = "As given to CompareShuffles --profile.")
  private Path folder;

  @Option(names = "--figures", description = "File to add figures to, as scripts/bench reads them.")
  private Path figureFile;

  /** Command line entry. */
  public static void main(String[] arguments) {
    System.exit(commandLine().execute(arguments));
  }

  static CommandLine commandLine() {
    return ShortErrors.on(new CommandLine(new ReadProfiles()));
  }

  @Override
  public Integer call() throws IOException {
    Map<String, List<ProfiledApplication>> sides = new LinkedHashMap<>();
    for (String label : List.of(OURS, STOCK)) {
      sides.put(label, read(label));
    }
    List<Figure> figures = new ProfileFigures(sides.get(OURS), sides.get(STOCK)).all();
    System.out.println();
    for (Figure figure : figures) {
      String against =
          figure.against() == null ? "" : ", " + STOCK + " " + figure.against().spread();
      System.out.printf(
          "%s, %%: %s%s %s%n", figure.name(), figure.ours().spread(), against, figure.verdict());
      if (figureFile != null) {
        FigureFile.append(figureFile, figure);
      }
    }
    return 0;
  }

  /** One side's rounds, printed and drawn. */
  private List<ProfiledApplication> read(String label) throws IOException {
    FlamePage page = new FlamePage();
    List<ProfiledApplication> rounds = new ArrayList<>();
    Path round = folder.resolve(label + "-1");
    while (Files.isDirectory(round)) {
      ProfiledApplication application = ProfiledApplication.read(round, page);
      rounds.add(application);
      System.out.println();
      System.out.print(ProfileText.of(label + ", round " + rounds.size(), application));
      round = folder.resolve(label + "-" + (rounds.size() + 1));
    }
    if (rounds.isEmpty()) {
      throw new IOException("No recordings " + round + ": CompareShuffles --profile makes them");
    }
    Path file = folder.resolve(label + ".html");
    page.write(file, "CPU time under " + label);
    System.out.println("Flame graph: " + file);
    return rounds;
  }
}
