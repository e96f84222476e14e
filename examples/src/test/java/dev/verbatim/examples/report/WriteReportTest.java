package dev.verbatim.examples.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class WriteReportTest {
  @TempDir private Path folder;

  @Test
  void shouldGatherTheFilesOfBenches() throws IOException {
    Path one = folder.resolve("one.jsonl");
    Path two = folder.resolve("two.jsonl");
    FigureFile.append(one, Figures.alone(1));
    FigureFile.append(two, Figures.alone(2));

    int code =
        WriteReport.commandLine()
            .execute("--out=" + folder, "--commit=abc", "first=" + one, "second=" + two);

    assertEquals(0, code);
    var json = new ObjectMapper().readTree(folder.resolve("bench.json").toFile());
    assertEquals("[2.0]", json.at("/benches/second/0/figure/ours/values").toString());
    assertEquals("abc", json.at("/commit").asText());
    assertTrue(Files.size(folder.resolve("bench.html")) > 500_000);
  }

  @Test
  void shouldNameTheFileThatIsWrong() throws IOException {
    Path file = Files.writeString(folder.resolve("bad.jsonl"), "{}\n{\"x\":1}");
    CommandLine line = WriteReport.commandLine();
    StringWriter errors = new StringWriter();
    line.setErr(new PrintWriter(errors, true));

    int code = line.execute("--out=" + folder, "--commit=abc", "a=" + file);

    assertEquals(2, code);
    assertTrue(errors.toString().contains(file + ", line 1"), errors.toString());
  }
}
