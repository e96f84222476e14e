package dev.verbatim.it.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.verbatim.it.machine.RdmaLink;
import dev.verbatim.it.spark.fixture.GatedShuffle;
import dev.verbatim.it.spark.fixture.Netem;
import dev.verbatim.it.spark.fixture.Scenario;
import dev.verbatim.it.spark.fixture.TestCluster;
import dev.verbatim.it.spark.fixture.TestCluster.Outcome;
import dev.verbatim.it.spark.fixture.Traffic;
import dev.verbatim.it.spark.fixture.TwoGuests;
import dev.verbatim.it.spark.fixture.WireCapture;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collection;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.spark.SparkExecutorInfo;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Standalone Spark with one executor in each of two machines, on a good wire and on bad ones. */
@Tag("wire")
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class StandaloneWireTest extends ApplicationTests {
  /** Far below what a READ and a connect may take in the other tests, far above what they do. */
  private static final Duration TIMEOUT = Duration.ofSeconds(20);

  /** Room for both time-outs, one after the other, and for a slow machine. */
  private static final Duration SILENCE = TIMEOUT.multipliedBy(6);

  private static final int MACHINES = 2;

  /** DSCP 26, as switches may be told to treat without loss; no ECN bits. */
  private static final int TRAFFIC_CLASS = 26 << 2;

  StandaloneWireTest() {
    super(new TwoGuests());
  }

  @Override
  Collection<Scenario> scenarios() {
    return EnumSet.of(
        Scenario.REDUCE_BY_KEY,
        Scenario.GROUP_BY_KEY,
        Scenario.LARGE_PARTITION,
        Scenario.GATED_SHUFFLE);
  }

  @Override
  TestCluster.Builder settings(TestCluster.Builder application) {
    return GatedShuffle.settings(application)
        .set("spark.shuffle.rdma.trafficClass", TRAFFIC_CLASS)
        .set("spark.shuffle.rdma.readTimeout", TIMEOUT.toSeconds() + "s")
        .set("spark.shuffle.rdma.connectTimeout", TIMEOUT.toSeconds() + "s");
  }

  @Test
  @Order(1)
  void shouldHaveAnExecutorOnEachMachine() {
    Set<String> hosts =
        Arrays.stream(cluster().session().sparkContext().statusTracker().getExecutorInfos())
            .filter(executor -> executor.totalOnHeapStorageMemory() > 0)
            .map(SparkExecutorInfo::host)
            .collect(Collectors.toSet());

    assertTrue(hosts.containsAll(Set.of("soft-roce-1", "soft-roce-2")), hosts::toString);
  }

  @ParameterizedTest(name = "{0}")
  @Order(2)
  @EnumSource(names = {"REDUCE_BY_KEY", "LARGE_PARTITION"})
  void shouldReturnWhatStockSparkReturns(Scenario scenario) {
    runUndisturbed(scenario);
  }

  /** What {@link EncryptedWireTest} does not find is found when nothing is encrypted. */
  @Test
  @Order(3)
  void shouldSendPlainBytesOfTheWantedTrafficClassByRdmaWhenNothingIsToBeEncrypted() {
    WireCapture capture = WireCapture.start(WireCapture.RDMA_WIRE);
    try (capture) {
      runUndisturbed(Scenario.GROUP_BY_KEY);
    }

    assertTrue(capture.packets(WireCapture.ROCE).contains(WireCapture.KNOWN_TEXT));
    for (String direction : List.of("dst", "src")) {
      String reads = WireCapture.READS + " and " + direction + " host 10.77.0.2";
      long all = capture.count(reads);
      assertTrue(all > 0, direction);
      assertEquals(all, capture.count(reads + " and ip[1] = " + TRAFFIC_CLASS), direction);
    }
  }

  /** And so it is on the wire that TCP takes. */
  @Test
  @Order(4)
  void shouldSendPlainBytesByTcpWhenThePortsAreDownAndNothingIsToBeEncrypted() {
    WireCapture capture = WireCapture.start(WireCapture.TCP_WIRE);
    try (capture) {
      cluster().inEachExecutor(MACHINES, StandaloneWireTest::linkDown);
      Traffic traffic = cluster().run(Scenario.GROUP_BY_KEY).traffic();
      assertTrue(traffic.bytesByTcp() > 0, traffic::toString);
      assertEquals(0, traffic.fetchFailures());
    } finally {
      cluster().inEachExecutor(MACHINES, StandaloneWireTest::linkUp);
    }

    assertTrue(capture.packets(WireCapture.ALL).contains(WireCapture.KNOWN_TEXT));
    awaitReturnToRdma();
  }

  private static String linkDown() {
    RdmaLink.down();
    return "down";
  }

  private static String linkUp() {
    RdmaLink.up();
    return "up";
  }

  @ParameterizedTest(name = "{0}")
  @Order(5)
  @ValueSource(strings = {"loss 0.1%", "loss 1%", "loss 5%", "delay 5ms reorder 25%"})
  void shouldReturnWhatStockSparkReturnsWhenPacketsAreDisturbed(String disturbance) {
    long repeated = Netem.repeated(cluster());
    long started = System.nanoTime();
    try (Netem netem = Netem.everywhere(cluster(), disturbance)) {
      Outcome outcome = cluster().run(Scenario.LARGE_PARTITION);

      assertResult(Scenario.LARGE_PARTITION, outcome.lines());
      assertEquals(0, outcome.traffic().fetchFailures());
      long lost = netem.dropped();
      long repeats = Netem.repeated(cluster()) - repeated;
      String what = disturbance + ", " + lost + " lost, " + repeats + " repeated";
      report(what, outcome.traffic(), started);
      if (disturbance.equals("loss 0.1%")) { // of some thousand packets: perhaps none
        assertEquals(0, outcome.traffic().bytesByTcp(), what);
      } else {
        assertEquals(disturbance.startsWith("loss"), lost > 0, what);
        assertTrue(repeats > 0, what);
      }
    }
    awaitReturnToRdma();
  }

  @Test
  @Order(6)
  void shouldFinishByTcpWhenTheWireFallsSilentInMidRead() {
    Traffic before = cluster().traffic();
    GatedShuffle shuffle = new GatedShuffle();
    shuffle.start(cluster());
    long started = System.nanoTime();
    try (Netem netem = Netem.here("loss 100%")) {
      assertResult(Scenario.GATED_SHUFFLE, shuffle.finish());
      Traffic added = cluster().traffic().since(before);
      long seconds = report("silence", added, started);
      assertTrue(netem.dropped() > 0, "some packets must be lost");
      assertTrue(added.bytesByTcp() > 0, added::toString);
      assertEquals(0, added.fetchFailures());
      assertFalse(added.fallbacks().isEmpty(), added::toString);
      assertTrue(
          Set.of("READ_FAILED", "CONNECTION_FAILED").containsAll(added.fallbacks().keySet()),
          added::toString);
      assertTrue(seconds < SILENCE.toSeconds(), () -> seconds + " s in silence");
    }
    awaitReturnToRdma();
  }

  private static long report(String what, Traffic traffic, long startedNanos) {
    long seconds = Duration.ofNanos(System.nanoTime() - startedNanos).toSeconds();
    System.out.printf("%s: %d s, %s%n", what, seconds, traffic);
    return seconds;
  }
}
