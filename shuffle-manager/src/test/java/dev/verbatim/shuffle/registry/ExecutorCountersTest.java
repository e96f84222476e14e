package dev.verbatim.shuffle.registry;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.verbatim.shuffle.metrics.ShuffleCounters;
import dev.verbatim.shuffle.registry.Message.Announce;
import dev.verbatim.shuffle.registry.Message.Report;
import org.junit.jupiter.api.Test;

class ExecutorCountersTest extends DriverRegistryFixture {
  @Test
  void shouldKeepTheCountersWhenAnExecutorIsLost() {
    ShuffleCounters counters = new ShuffleCounters();
    counters.blockByRdma(42);
    registry.report(new Report("1", counters.snapshot()));

    registry.removeExecutor("1");

    assertEquals(42, registry.report().bytesByRdma());
    assertEquals("RDMA on: rxe0", registry.report().executors().get("1").mode());
  }

  @Test
  void shouldKeepTheSumOnlyWhenVeryManyExecutorsWereLost() {
    ShuffleCounters counters = new ShuffleCounters();
    counters.blockByRdma(42);
    int executors = ExecutorLedger.MOST_LOST + 10;
    for (int i = 100; i < 100 + executors; i++) {
      registry.announce(new Announce("" + i, null, "", "RDMA off"));
      registry.report(new Report("" + i, counters.snapshot()));
      registry.removeExecutor("" + i);
    }
    registry.report(new Report("100", counters.snapshot()));

    assertEquals(42L * executors, registry.report().bytesByRdma());
    assertEquals(2 + ExecutorLedger.MOST_LOST + 1, registry.report().executors().size());
    assertEquals(420, registry.report().executors().get("earlier").counters().bytesByRdma());
  }
}
