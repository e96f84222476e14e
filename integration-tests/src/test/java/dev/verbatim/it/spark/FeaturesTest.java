package dev.verbatim.it.spark;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.verbatim.it.spark.fixture.Deadline;
import dev.verbatim.it.spark.fixture.Executors;
import dev.verbatim.it.spark.fixture.Feature;
import dev.verbatim.it.spark.fixture.GatedShuffle;
import dev.verbatim.it.spark.fixture.Job;
import dev.verbatim.it.spark.fixture.Python;
import dev.verbatim.it.spark.fixture.Stages;
import dev.verbatim.it.spark.fixture.StandIn;
import dev.verbatim.it.spark.fixture.TestCluster.Outcome;
import dev.verbatim.it.spark.fixture.Traffic;
import java.time.Duration;
import java.util.Collection;
import java.util.EnumSet;
import java.util.Map;
import org.apache.spark.MapOutputTrackerMaster;
import org.apache.spark.SparkEnv;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("standin")
class FeaturesTest extends FeatureTests {
  /** Two executors' own mappings and a few slabs; a mapping for each map output would be 10,000. */
  private static final int MOST_NEW_MAPPINGS = 300;

  private final StandIn standIn;

  FeaturesTest() {
    StandIn device = new StandIn();
    super(device);
    standIn = device;
  }

  @Override
  EnumSet<Feature> features() {
    EnumSet<Feature> features = EnumSet.range(Feature.BYPASS_MERGE_WRITER, Feature.STREAMING);
    features.removeAll(
        EnumSet.of(
            Feature.FEW_MAPS,
            Feature.MAPS_10000,
            Feature.FETCH_IN_BATCHES,
            Feature.FETCH_ONE_BY_ONE));
    if (!Python.present()) {
      features.remove(Feature.PYTHON_PROCESSES);
    }
    return features;
  }

  @Override
  Collection<? extends Job> scenarios() {
    EnumSet<Feature> features = features();
    features.add(Feature.FEW_MAPS);
    return features;
  }

  @Test
  @Order(2)
  void shouldGiveAllBackWhenAJobIsCancelledInMidRead() {
    GatedShuffle finished = new GatedShuffle();
    finished.start(cluster());
    long whileRead = regions();
    finished.finish();
    collectShuffles();
    Deadline.await(
        "return of the finished job's memory",
        Duration.ofSeconds(20),
        () -> regions() < whileRead,
        () -> whileRead + " regions while it was read, now " + regions());
    long before = regions();
    GatedShuffle cancelled = new GatedShuffle();
    cancelled.start(cluster());
    long registered = regions();
    assertTrue(
        registered > before,
        () -> "the maps of the job must be registered: " + before + ", then " + registered);
    cancelled.cancel(cluster());

    Deadline.await(
        "return of the cancelled job's memory",
        Duration.ofSeconds(20),
        () -> {
          collectShuffles();
          return regions() <= before;
        },
        () -> before + " regions before, now " + regions());
    runUndisturbed(Feature.BARRIER_STAGE);
  }

  /** Spark removes a shuffle when the driver's collector finds that nobody knows of it. */
  private static void collectShuffles() {
    MapOutputTrackerMaster tracker = (MapOutputTrackerMaster) SparkEnv.get().mapOutputTracker();
    Deadline.await(
        "removal of all shuffles",
        Duration.ofSeconds(20),
        () -> {
          System.gc();
          return tracker.shuffleStatuses().isEmpty();
        },
        tracker::shuffleStatuses);
  }

  private long regions() {
    Map<String, Map<String, Long>> counters = standIn.counters();
    return Executors.running().values().stream()
        .mapToLong(process -> counters.get(Long.toString(process.pid())).get("mrs"))
        .sum();
  }

  @Test
  @Order(3)
  void shouldNotMapEachFileWhenThereAreManySmallMapOutputs() {
    long before = mappings();

    Outcome outcome = cluster().run(Feature.MAPS_10000);
    assertResult(Feature.FEW_MAPS, outcome.lines());
    device().assertTravelled(outcome.traffic());
    long added = mappings() - before;
    assertTrue(added < MOST_NEW_MAPPINGS, () -> added + " new mappings");
  }

  private static long mappings() {
    return Executors.running().values().stream().mapToLong(Executors::mappings).sum();
  }

  @Test
  @Order(4)
  void shouldRunAllOfAnIndeterminateStageAgainWhenOneOfItsOutputsIsLost() {
    assertAllRunAgain(
        GatedShuffle.indeterminate(), Feature.INDETERMINATE_STAGE, GatedShuffle.maps());
  }

  /** Spark finds by its checksums of rows that map tasks which ran again have written others. */
  @Test
  @Order(5)
  void shouldRunAllReducersAgainWhenMapOutputsHaveChangedInARetry() {
    assertAllRunAgain(
        GatedShuffle.changing(), Feature.CHANGING_OUTPUTS, GatedShuffle.CHANGING_REDUCERS);
  }

  private void assertAllRunAgain(GatedShuffle shuffle, Feature feature, int tasks) {
    Traffic before = cluster().traffic();
    try (Stages stages = new Stages(cluster())) {
      shuffle.start(cluster());
      Executors.kill(Executors.running().keySet().iterator().next());

      assertResult(feature, shuffle.finish());
      assertTrue(
          stages.retries().stream().anyMatch(attempt -> attempt.tasks() == tasks),
          () -> "all tasks of the stage must run again: " + stages.retries());
    }
    Traffic added = cluster().traffic().since(before);
    assertTrue(added.fetchFailures() > 0, added::toString);
    assertTrue(added.bytesByRdma() > 0, added::toString);
  }
}
