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
    JobResult result = new JobResult(List.of(), List.of());
    return new ApplicationReport(
        "verbatim",
        "class",
        List.of("RDMA on"),
        Map.of("READ_FAILED", 3L),
        List.of(
            new JobReport("none", 1, new ClusterCpu(1, 1), ShuffleBytes.NONE, NOTHING, result),
            new JobReport("some", 1, new ClusterCpu(1, 1), shuffle, transfer, result)));
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
