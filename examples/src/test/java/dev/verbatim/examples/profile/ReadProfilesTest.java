package dev.verbatim.examples.profile;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.verbatim.examples.report.Figure;
import dev.verbatim.examples.report.FigureFile;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import one.convert.Arguments;
import one.convert.FlameGraph;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class ReadProfilesTest {
  @TempDir private Path folder;

  private void record(String application) throws IOException, InterruptedException {
    Path recordings = Files.createDirectories(folder.resolve(application));
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(JobProfiler.flags(recordings));
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.addAll(List.of(BusyProgram.class.getName(), recordings.toString()));
    Process process = new ProcessBuilder(command).inheritIO().start();
    assertTrue(process.waitFor(60, TimeUnit.SECONDS), "the program ends");
    assertEquals(0, process.exitValue());
  }

  @Test
  void shouldTellWhatPartOfTheTimeOurThreadsHad() throws Exception {
    record("verbatim-1");
    record("sort-1");
    Path figureFile = folder.resolve("figures");

    int code =
        ReadProfiles.commandLine().execute(folder.toString(), "--figures", figureFile.toString());

    assertEquals(0, code);
    Map<String, Figure> figures =
        FigureFile.read(figureFile).stream()
            .collect(Collectors.toMap(Figure::name, figure -> figure));
    // Half of what the two threads had; the main thread and the compilers had a little.
    double share = figures.get("profile-queries-driver").ours().values().getFirst();
    assertTrue(share > 30 && share < 60, "percent: " + share);
    assertEquals("MISSED", figures.get("profile-queries-driver").verdict());
    assertEquals(0, figures.get("profile-q1").ours().values().getFirst(), "no executor");
    String stacks = stacks(folder.resolve("verbatim.html"));
    assertTrue(stacks.contains("driver;[verbatim-test];"), stacks);
    assertTrue(stacks.contains("BusyProgram.work"), stacks);
    assertFalse(stacks.contains("[before]"), "only what jobs did");
  }

  /** What a page draws, from which the converter can tell it as well. */
  private String stacks(Path page) throws IOException {
    Path stacks = folder.resolve("stacks");
    FlameGraph.convert(page.toString(), stacks.toString(), new Arguments("--output", "collapsed"));
    return Files.readString(stacks);
  }

  @Test
  void shouldSayWhichProcessHasLeftNothing() throws Exception {
    record("verbatim-1");
    try (var files = Files.newDirectoryStream(folder.resolve("verbatim-1"), "*.jfr")) {
      Files.delete(files.iterator().next());
    }
    StringWriter errors = new StringWriter();
    CommandLine line = ReadProfiles.commandLine().setErr(new PrintWriter(errors, true));

    assertEquals(2, line.execute(folder.toString()));

    assertTrue(errors.toString().contains("no recording of process"), errors::toString);
  }

  @Test
  void shouldRefuseAPathThatTheJvmWouldTakeApart() {
    assertThrows(IllegalArgumentException.class, () -> JobProfiler.flags(Path.of("/a,b")));
  }
}
