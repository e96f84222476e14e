package dev.verbatim.examples.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AppendFiguresTest {
  private static final String LINE =
      """
      {"name":"read","what":"READs","unit":"MB/s","ours":{"label":"verbatim","values":[2]},\
      "against":{"label":"ib_read_bw","values":[1]},"goals":["ratio >= 0.97"],"note":"model"}
      """;

  @TempDir private Path folder;

  @Test
  void shouldSayWhereTheFiguresOfAScriptAreFrom() throws IOException {
    Path measured = Files.writeString(folder.resolve("measured.jsonl"), LINE);
    Path file = folder.resolve("figures.jsonl");
    FigureFile.append(file, Figures.alone(1));

    int code = AppendFigures.commandLine().execute(measured.toString(), file.toString());

    assertEquals(0, code);
    List<Figure> figures = FigureFile.read(file);
    assertEquals(2, figures.size());
    Figure added = figures.getLast();
    assertEquals("met", added.verdict());
    assertEquals(Machine.here(), added.origin().machine());
    assertNull(FigureFile.read(measured).getFirst().origin());
  }
}
