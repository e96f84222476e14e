package dev.verbatim.it.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.verbatim.it.machine.Iwarp;
import dev.verbatim.it.spark.fixture.Executors;
import dev.verbatim.it.spark.fixture.SoftIwarp;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("iwarp")
class SoftIwarpTest extends ScenarioTests {
  SoftIwarpTest() {
    super(new SoftIwarp());
  }

  @Test
  void shouldTellThatRdmaIsIwarpInEachExecutor() {
    List<String> lines =
        cluster().executorLogs().lines().filter(line -> line.contains("RDMA o")).toList();

    assertEquals(Executors.running().size(), lines.size(), lines::toString);
    String device = "RDMA on: device " + Iwarp.DEVICE + " port 1 (iWARP)";
    lines.forEach(line -> assertTrue(line.contains(device), line));
  }
}
