package dev.verbatim.it.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.verbatim.it.spark.fixture.Deadline;
import dev.verbatim.it.spark.fixture.Device;
import dev.verbatim.it.spark.fixture.Executors;
import dev.verbatim.it.spark.fixture.GatedShuffle;
import dev.verbatim.it.spark.fixture.Scenario;
import dev.verbatim.it.spark.fixture.ShuffleFiles;
import dev.verbatim.it.spark.fixture.Traffic;
import java.time.Duration;
import java.util.Set;
import java.util.function.IntSupplier;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;

/** Faults of a device's port, and of files that are registered at it. */
abstract class DeviceFaultTests extends FaultTests {
  private static final Duration FLAP = Duration.ofSeconds(60);

  DeviceFaultTests(Device device) {
    super(device);
  }

  @Test
  @Order(2)
  void shouldUseTcpWhileThePortIsDownAndRdmaWhenItIsUpAgain() {
    Traffic before = cluster().traffic();
    GatedShuffle shuffle = new GatedShuffle();
    shuffle.start(cluster());
    device().portDown();
    try {
      assertResult(Scenario.GATED_SHUFFLE, shuffle.finish());
      Deadline.await(
          "bytes by both ways",
          FLAP,
          () -> bothWays(cluster().traffic().since(before)),
          () -> cluster().traffic().since(before));
    } finally {
      device().portUp();
    }
    awaitReturnToRdma();
  }

  private static boolean bothWays(Traffic traffic) {
    return traffic.bytesByRdma() > 0 && traffic.bytesByTcp() > 0;
  }

  @Test
  @Order(3)
  void shouldReadOnByRdmaWhenDataFilesAreDeletedWhileTheyAreRead() {
    Traffic traffic = loseFilesInMidRead(ShuffleFiles::delete);

    assertEquals(0, traffic.bytesByTcp(), () -> "what is registered stays: " + traffic);
  }

  @Test
  @Order(4)
  void shouldReturnTheRightResultWhenDataFilesAreTruncatedWhileTheyAreRead() {
    assertTravelledWhenTruncated(loseFilesInMidRead(ShuffleFiles::truncate));
  }

  /**
   * Checks how the blocks of files came that lost their bytes after they were registered. A real
   * device holds the pages, so a READ brings what was there.
   */
  void assertTravelledWhenTruncated(Traffic traffic) {
    assertEquals(0, traffic.bytesByTcp(), traffic::toString);
  }

  private Traffic loseFilesInMidRead(IntSupplier loss) {
    Set<String> executors = Executors.running().keySet();
    Traffic before = cluster().traffic();
    GatedShuffle shuffle = new GatedShuffle();
    shuffle.start(cluster());
    assertTrue(loss.getAsInt() > 0, "files are there");

    assertResult(Scenario.GATED_SHUFFLE, shuffle.finish());
    Traffic added = cluster().traffic().since(before);
    assertTrue(added.bytesByRdma() > 0, added::toString);
    assertEquals(executors, Executors.running().keySet(), "no executor died");
    runUndisturbed(Scenario.GROUP_BY_KEY);
    return added;
  }
}
