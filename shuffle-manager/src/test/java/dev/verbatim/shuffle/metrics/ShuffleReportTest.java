package dev.verbatim.shuffle.metrics;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.verbatim.shuffle.fallback.FallbackReason;
import dev.verbatim.shuffle.metrics.ShuffleReport.ExecutorReport;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ShuffleReportTest {

  @Test
  void shouldSumExecutorsWhenThereAreSeveral() {
    ShuffleCounters one = new ShuffleCounters();
    one.blockByRdma(100);
    one.outputRegistered(5);
    one.regions(2, 4096);
    ShuffleCounters two = new ShuffleCounters();
    two.blockByTcp(7);
    two.fallback(FallbackReason.READ_FAILED, 1);
    two.outputDeclined();

    ShuffleReport report =
        ShuffleReport.of(
            Map.of(
                "1", new ExecutorReport("", "RDMA on: device rxe0", one.snapshot()),
                "2", new ExecutorReport("", "RDMA off: NO_DEVICE", two.snapshot())));

    assertEquals(100, report.bytesByRdma());
    assertEquals(1, report.blocksByTcp());
    assertEquals(7, report.bytesByTcp());
    assertEquals(Map.of(FallbackReason.READ_FAILED, 1L), report.fallbacks());
    assertEquals(2, report.total().regions());
    assertTrue(report.describe().contains("executor 2: RDMA off: NO_DEVICE"));
  }

  @Test
  void shouldReturnToZeroWhenRegionsAreGivenUp() {
    ShuffleCounters counters = new ShuffleCounters();
    counters.regions(3, 300);
    counters.regions(-3, -300);

    assertEquals(CounterSnapshot.ZERO, counters.snapshot());
  }
}
