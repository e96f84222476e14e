package dev.verbatim.it.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.verbatim.it.spark.fixture.Places;
import dev.verbatim.it.spark.fixture.Python;
import dev.verbatim.it.spark.fixture.SparkHome;
import dev.verbatim.it.spark.fixture.SparkSubmission;
import dev.verbatim.it.spark.fixture.SparkSubmission.Result;
import dev.verbatim.it.spark.fixture.StandIn;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A Python program with shuffles, where there is a PySpark of this Spark's version. */
@Tag("standin")
class PySparkTest {
  private final SparkHome home = SparkHome.create(List.of(Places.pluginJar()));
  @TempDir private Path folder;

  @Test
  void shouldReturnWhatStockSparkReturns() throws IOException {
    Python.PySpark python = Python.pySpark();
    assumeTrue(python.missing().isEmpty(), python.missing());
    StandIn standIn = new StandIn();
    Map<String, String> environment = new HashMap<>(python.environment());
    List<String> stock = run(environment, "sort");
    environment.putAll(standIn.environment());

    List<String> lines = run(environment, SparkSubmission.MANAGER);

    assertFalse(stock.isEmpty());
    assertEquals(stock, lines.stream().filter(line -> line.matches("(group|row) .*")).toList());
    assertTrue(lines.stream().anyMatch(line -> line.matches("RDMA [1-9]\\d*")), lines::toString);
    assertTrue(lines.contains("TCP 0"), lines::toString);
    standIn.assertNothingLeft();
  }

  private List<String> run(Map<String, String> environment, String manager) throws IOException {
    Path output = folder.resolve(manager);
    Result result =
        new SparkSubmission(home, environment)
            .set("spark.shuffle.manager", manager)
            .python("pyspark_job.py", output)
            .run();
    assertEquals(0, result.exitCode(), () -> String.join("\n", result.output()));
    try (var lines = Files.lines(output)) {
      return lines.sorted().toList();
    }
  }
}
