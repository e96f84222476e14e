package dev.verbatim.it.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.verbatim.it.spark.fixture.Executors;
import dev.verbatim.it.spark.fixture.Feature;
import dev.verbatim.it.spark.fixture.Job;
import dev.verbatim.it.spark.fixture.StandIn;
import dev.verbatim.shuffle.RdmaShuffleManager;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("standin")
class StandInScenariosTest extends ScenarioTests {
  private static final Pattern START =
      Pattern.compile(
          " INFO ExecutorSession: RDMA on: device standin0 port 1 \\(RoCE v2\\), GID 3"
              + " ::ffff:127\\.0\\.0\\.1, address 127\\.0\\.0\\.1 port \\d+, MTU 4096, READ depth 16,"
              + " map output files \\[READ_ONLY_MAPPING]$");

  private final StandIn standIn;

  StandInScenariosTest() {
    StandIn device = new StandIn();
    super(device);
    standIn = device;
  }

  @Override
  Collection<? extends Job> scenarios() {
    List<Job> jobs = new ArrayList<>(super.scenarios());
    jobs.addAll(List.of(Feature.FETCH_IN_BATCHES, Feature.FETCH_ONE_BY_ONE));
    return jobs;
  }

  @Test
  void shouldTellOnceAtTheStartOfAnExecutorWhatRdmaUses() {
    List<String> lines =
        cluster().executorLogs().lines().filter(line -> line.contains("RDMA o")).toList();

    assertEquals(Executors.running().size(), lines.size(), lines::toString);
    lines.forEach(line -> assertTrue(START.matcher(line).find(), line));
  }

  @Test
  void shouldReadNeighbouringPartitionsAsOneBlockWhenBatchesAreAllowed() {
    Taken single = taken(Feature.FETCH_ONE_BY_ONE);
    Taken batched = taken(Feature.FETCH_IN_BATCHES);

    assertTrue(2 * batched.blocks <= single.blocks, () -> batched + " instead of " + single);
    // For each map output its index and its data, however many partitions.
    assertTrue(single.reads * 4 <= single.blocks, single::toString);
    assertTrue(batched.reads <= 2 * batched.blocks, batched::toString);
  }

  private record Taken(long blocks, long reads) {}

  private Taken taken(Feature feature) {
    long blocks = RdmaShuffleManager.report().blocksByRdma();
    long reads = standIn.reads();
    runUndisturbed(feature);
    return new Taken(RdmaShuffleManager.report().blocksByRdma() - blocks, standIn.reads() - reads);
  }

  @Override
  void checkAfterStop() {
    standIn.assertNothingLeft();
  }
}
