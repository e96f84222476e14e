package dev.verbatim.examples;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class RdmaOnlyTest {
  private static final TransferBytes NOTHING = new TransferBytes(0, 0);

  private static ApplicationReport round(long remote, TransferBytes transfer) {
    ShuffleBytes shuffle = new ShuffleBytes(2 * remote, remote, remote, 0, 0, 1, 0);
    return new ApplicationReport(
        "verbatim",
        1,
        new SparkFacts("4.2.0", "class", List.of("RDMA on")),
        List.of(
            job("none", ShuffleBytes.NONE, NOTHING, Map.of()),
            job("some", shuffle, transfer, Map.of("READ_FAILED", 3L)),
            JobReport.failed("failed", 1, "of no account here")));
  }

  private static JobReport job(
      String name, ShuffleBytes shuffle, TransferBytes transfer, Map<String, Long> fallbacks) {
    return new JobReport(
        name, 1, new ClusterCpu(1, 1), shuffle, transfer, fallbacks, 0, null, null);
  }

  private static String failure(ApplicationReport... rounds) {
    return assertThrows(IOException.class, () -> RdmaOnly.check(List.of(rounds))).getMessage();
  }

  @Test
  void shouldAcceptWhenAllBytesOfAllRoundsCameByRdma() {
    ApplicationReport good = round(100, new TransferBytes(100, 0));

    assertDoesNotThrow(() -> RdmaOnly.check(List.of(good, good)));
  }

  @Test
  void shouldNameRoundAndJobWhenSomeBytesDidNot() {
    ApplicationReport good = round(100, new TransferBytes(100, 0));

    String tcp = failure(good, round(100, new TransferBytes(99, 1)));
    assertTrue(tcp.contains("verbatim, round 2: some"), tcp);
    assertTrue(tcp.contains("READ_FAILED=3"), tcp);
    assertTrue(failure(round(100, new TransferBytes(99, 0))).contains("some"), "not accounted for");
    assertTrue(failure(round(100, null)).contains("some"), "not counted");
  }

  @Test
  void shouldRefuseWhenNothingCrossedTheNetwork() {
    assertTrue(failure(round(0, NOTHING)).contains("no job read"));
  }
}
