package dev.verbatim.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RunFilesTest {
  @TempDir private Path folder;

  /** The page is made to be mailed. */
  @Test
  void shouldNotHaveWhatSparkHidesToo() throws IOException {
    RunSettings usual = Reports.settings(1, List.of("q1"));
    RunSettings settings =
        new RunSettings(
            usual.jobs(),
            usual.managers(),
            1,
            usual.master(),
            Map.of(
                "spark.hadoop.fs.s3a.secret.key", "hush-1",
                "spark.executor.extraJavaOptions", "-Dstore.password=hush-2",
                "spark.sql.shuffle.partitions", "4321"),
            usual.data(),
            false,
            List.of("-Dstore.password=hush-3", "-Xss4m"),
            "1g",
            "53b78ae");
    RunReport run = Reports.run(1, usual.jobs());
    RunFiles files = new RunFiles(folder.resolve("run.json"), folder.resolve("run.html"));
    files.write(new RunReport(settings, run.machine(), run.started(), List.of()));
    for (Path file : List.of(files.json(), files.html())) {
      String text = Files.readString(file);
      assertFalse(text.contains("hush"), file::toString);
      assertTrue(text.contains("4321") && text.contains("-Xss4m"), file::toString);
    }

    RunReport begun = files.read();
    settings.redacted().checkSame(begun.settings());
    assertEquals(settings, begun.succeeded(settings).settings());
  }
}
