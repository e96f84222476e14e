package dev.verbatim.examples.report;

import dev.verbatim.examples.ShortErrors;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Makes the text, the JSON file and the page of figures that benches have left. */
@Command(
    name = "WriteReport",
    mixinStandardHelpOptions = true,
    description = "Prints figures and writes bench.json and bench.html. Exit code 2: failed.")
public final class WriteReport implements Callable<Integer> {
  @Option(names = "--out", required = true, description = "Folder to write to.")
  private Path folder;

  @Option(names = "--commit", required = true, description = "Commit of what was measured.")
  private String commit;

  @Parameters(arity = "1..*", paramLabel = "BENCH=FILE", description = "Figures by bench.")
  private Map<String, Path> files;

  /** Command line entry. */
  public static void main(String[] arguments) {
    System.exit(commandLine().execute(arguments));
  }

  static CommandLine commandLine() {
    return ShortErrors.on(new CommandLine(new WriteReport()));
  }

  @Override
  public Integer call() throws IOException {
    Map<String, List<Figure>> benches = new LinkedHashMap<>();
    for (Map.Entry<String, Path> bench : files.entrySet()) {
      benches.put(bench.getKey(), FigureFile.read(bench.getValue()));
    }
    FigureReport report = new FigureReport(Machine.here(), commit, Origin.now(), benches);
    report.write(folder);
    System.out.print(report.text());
    return 0;
  }
}
