package dev.verbatim.it.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.verbatim.it.spark.fixture.HugePartitions;
import dev.verbatim.it.spark.fixture.StandIn;
import dev.verbatim.it.spark.fixture.StockSpark;
import dev.verbatim.it.spark.fixture.TestCluster;
import dev.verbatim.it.spark.fixture.TestCluster.Outcome;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Partitions at the limits of 31 and 32 bits, in data files with holes. */
@Tag("standin")
class HugePartitionsTest {
  private static final long GIB = 1L << 30;

  private final StandIn standIn = new StandIn();

  @Test
  void shouldReadAPartitionOfAnySizeWhenItsFileIsRegisteredInParts() {
    TestCluster.Builder application =
        HugePartitions.settings(standIn.prepare(TestCluster.builder("huge-partitions")))
            .environment(Map.of("VERBATIM_STANDIN_LIMITS", "max_mr_size=3000000000"))
            .set("spark.shuffle.rdma.maxRegisteredBytes", "9g")
            // To bring 4 GiB into memory takes longer than an answer is held back by default.
            .set("spark.shuffle.rdma.registry.hold", "60s");

    try (TestCluster cluster = application.start()) {
      assertByRdma(cluster, new HugePartitions(List.of(2 * GIB - 1, 2 * GIB)));
      assertByRdma(cluster, new HugePartitions(List.of(4 * GIB + 1)));
    }
  }

  private void assertByRdma(TestCluster cluster, HugePartitions job) {
    Outcome outcome = cluster.run(job);

    assertEquals(StockSpark.sorted(job.expected()), StockSpark.sorted(outcome.lines()));
    assertEquals(
        job.sizes().stream().mapToLong(Long::longValue).sum(), outcome.traffic().remoteBytes());
    standIn.assertTravelled(outcome.traffic());
  }
}
