package dev.verbatim.shuffle.ui;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.verbatim.shuffle.fallback.FallbackReason;
import dev.verbatim.shuffle.metrics.ApplicationView;
import dev.verbatim.shuffle.metrics.CounterSnapshot;
import dev.verbatim.shuffle.metrics.ShuffleCounters;
import dev.verbatim.shuffle.metrics.ShuffleOutputs;
import dev.verbatim.shuffle.metrics.ShuffleReport.ExecutorReport;
import dev.verbatim.transport.LatencyCounts;
import dev.verbatim.transport.TransportCounters;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class RdmaStatusTest {
  private static final LatencyCounts LATENCY = LatencyCounts.of(Map.of(40, 99L, 80, 1L));

  private static CounterSnapshot counters(int portsActive, int devicesLost) {
    ShuffleCounters counters = new ShuffleCounters();
    counters.blockByRdma(1000);
    counters.blockByTcp(30);
    counters.regions(2, 4096);
    counters.fallback(FallbackReason.READ_FAILED, 1);
    counters.include(
        () ->
            new TransportCounters(
                portsActive,
                devicesLost,
                100,
                1000,
                LATENCY,
                Map.of(),
                1,
                0,
                0,
                0,
                Map.of(),
                1,
                3,
                5000,
                1,
                904,
                0,
                Map.of()));
    return counters.snapshot();
  }

  private static RdmaStatus status(Set<String> living, Map<String, ExecutorReport> executors) {
    return RdmaStatus.of(
        "RDMA is allowed",
        new ApplicationView(executors, living, living.size(), 0),
        Map.of(3, new ShuffleOutputs(true, 5, 500, Map.of(FallbackReason.MEMLOCK, 1L))));
  }

  private static ExecutorRow row(boolean living, ExecutorReport report) {
    return status(living ? Set.of("1") : Set.of(), Map.of("1", report)).executors().getFirst();
  }

  @Test
  void shouldTellWhatAnExecutorHasReported() {
    ExecutorReport report = new ExecutorReport("rxe0 port 1", "RDMA on", counters(1, 0));
    assertEquals(
        new ExecutorRow(
            "1",
            true,
            "rxe0 port 1",
            "RDMA on",
            "PORT_ACTIVE",
            4096,
            2,
            1000,
            1,
            30,
            1,
            Map.of("READ_FAILED", 1L),
            100,
            LATENCY.quantileNanos(0.5),
            LATENCY.quantileNanos(0.99),
            LATENCY.quantileNanos(1)),
        row(true, report));
    assertFalse(LATENCY.quantileNanos(1) == LATENCY.quantileNanos(0.99));
  }

  @Test
  void shouldTellTheStateOfThePort() {
    assertEquals("PORT_DOWN", row(true, new ExecutorReport("rxe0", "", counters(0, 0))).port());
    assertEquals("DEVICE_LOST", row(true, new ExecutorReport("rxe0", "", counters(0, 1))).port());
    assertEquals("", row(true, new ExecutorReport("rxe0", "", CounterSnapshot.ZERO)).port());
    assertEquals("", row(true, new ExecutorReport("", "RDMA off", counters(0, 0))).port());
  }

  @Test
  void shouldTellThatALostExecutorHoldsNothingAndKeepWhatItCounted() {
    ExecutorRow row = row(false, new ExecutorReport("rxe0 port 1", "RDMA on", counters(1, 0)));
    assertFalse(row.living());
    assertEquals("", row.port());
    assertEquals(0, row.registeredBytes());
    assertEquals(0, row.regions());
    assertEquals(1000, row.bytesByRdma());
  }

  @Test
  void shouldSumUpCountsOfAllAndWhatLivingExecutorsHold() {
    ExecutorReport report = new ExecutorReport("rxe0 port 1", "RDMA on", counters(1, 0));
    RdmaStatus status = status(Set.of("2"), Map.of("1", report, "2", report));
    ExecutorRow total = status.application().total();
    assertEquals(2000, total.bytesByRdma());
    assertEquals(60, total.bytesByTcp());
    assertEquals(4096, total.registeredBytes());
    assertEquals(Map.of("READ_FAILED", 2L), total.fallbacks());
    assertEquals("RDMA is allowed", status.application().mode());
    assertEquals(
        List.of(new ShuffleRow(3, true, 5, 500, Map.of("MEMLOCK", 1L))), status.shuffles());
  }
}
