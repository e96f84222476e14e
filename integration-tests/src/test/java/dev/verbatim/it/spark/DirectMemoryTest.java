package dev.verbatim.it.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.verbatim.it.spark.fixture.Executors;
import dev.verbatim.it.spark.fixture.KeptShuffle;
import dev.verbatim.it.spark.fixture.StandIn;
import dev.verbatim.it.spark.fixture.StockSpark;
import dev.verbatim.it.spark.fixture.TestCluster;
import dev.verbatim.it.spark.fixture.TestCluster.Outcome;
import dev.verbatim.it.spark.fixture.Traffic;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The JVM's direct memory is used up by others when a connection is to be made: an {@link Error} on
 * one of the transport's own threads, which would end the executor if nobody caught it.
 */
@Tag("standin")
class DirectMemoryTest {
  private static final String PREFIX = "spark.shuffle.rdma.";

  /** In the executors: what is held there. */
  private static final List<ByteBuffer> HELD = new ArrayList<>();

  private final StandIn standIn = new StandIn();

  @Test
  void shouldUseTcpAndLoseNoExecutorWhileDirectMemoryIsUsedUp() throws Exception {
    KeptShuffle job = new KeptShuffle();
    try (TestCluster cluster =
        standIn
            .prepare(TestCluster.builder("direct-memory"))
            .set("spark.executor.extraJavaOptions", "-XX:MaxDirectMemorySize=16m")
            .set(PREFIX + "idleTimeout", "1s")
            .set(PREFIX + "retryBackoff", "0ms")
            .start()) {
      Outcome first = cluster.run(job);
      assertTrue(first.traffic().bytesByRdma() > 0, first::toString);
      Map<String, ProcessHandle> executors = Executors.running();
      Thread.sleep(3_000); // the connections are closed after idling
      cluster.inEachExecutor(2, DirectMemoryTest::useUp);

      Outcome short_ = cluster.run(job);
      Traffic traffic = short_.traffic();
      assertEquals(StockSpark.sorted(first.lines()), StockSpark.sorted(short_.lines()));
      assertEquals(executors, Executors.running(), "no executor was lost");
      assertTrue(traffic.fallbacks().containsKey("CONNECTION_FAILED"), traffic::toString);

      cluster.inEachExecutor(2, DirectMemoryTest::giveBack);
      Traffic after = cluster.run(job).traffic();
      assertEquals(0, after.bytesByTcp(), after::toString);
      assertTrue(after.bytesByRdma() > 0, after::toString);
    }
    standIn.assertNothingLeft();
  }

  /** All but some kilobytes, which Java's own file channels need. */
  private static String useUp() {
    synchronized (HELD) {
      if (HELD.isEmpty()) {
        for (int size = 1 << 20; size >= 8 << 10; size /= 2) {
          take(size);
        }
      }
      return HELD.size() + " buffers";
    }
  }

  private static void take(int size) {
    try {
      while (true) {
        HELD.add(ByteBuffer.allocateDirect(size));
      }
    } catch (OutOfMemoryError e) {
      return; // no more of this size
    }
  }

  private static String giveBack() {
    synchronized (HELD) {
      HELD.clear();
    }
    System.gc();
    return "free";
  }
}
