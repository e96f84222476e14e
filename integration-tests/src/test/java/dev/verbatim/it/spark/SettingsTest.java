package dev.verbatim.it.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.verbatim.it.spark.fixture.DriverLog;
import dev.verbatim.it.spark.fixture.Scenario;
import dev.verbatim.it.spark.fixture.StandIn;
import dev.verbatim.it.spark.fixture.StockSpark;
import dev.verbatim.it.spark.fixture.TestCluster;
import dev.verbatim.it.spark.fixture.TestCluster.Outcome;
import dev.verbatim.it.spark.fixture.Traffic;
import dev.verbatim.shuffle.conf.ConfigEntry;
import dev.verbatim.shuffle.conf.RdmaConf;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Settings that are wrong, small or leave nothing to RDMA; the device itself works. */
@Tag("standin")
class SettingsTest {
  private static final String PREFIX = "spark.shuffle.rdma.";
  private static final Scenario SCENARIO = Scenario.REPARTITION;

  private final StandIn standIn = new StandIn();

  @BeforeAll
  static void compute() {
    StockSpark.compute(List.of(SCENARIO));
  }

  @Test
  void shouldEndTheApplicationAtItsStartWhenAValueIsOutOfRange() {
    TestCluster.Builder application = application("out-of-range").set(PREFIX + "readDepth", 999);

    Throwable error = assertThrows(Throwable.class, () -> application.start().close());
    String message = messages(error);
    assertTrue(message.contains(PREFIX + "readDepth"), message);
    assertTrue(message.contains("999"), message);
    assertTrue(message.contains("255"), message);
  }

  @Test
  void shouldNameTheDevicesThatExistWhenTheWantedOneDoesNot() {
    try (TestCluster cluster =
        application("no-such-device").set(PREFIX + "device", "nosuch7").start()) {
      Traffic traffic = run(cluster);

      assertFellBack(traffic, "NO_DEVICE");
      String line =
          cluster.executorLogs().lines().filter(l -> l.contains("RDMA off")).findFirst().orElse("");
      assertTrue(line.contains("nosuch7"), line);
      assertTrue(line.contains("standin0"), line);
    }
  }

  @Test
  void shouldWarnWithTheNearestKeyWhenAKeyIsUnknown() {
    try (DriverLog log = new DriverLog();
        TestCluster cluster = application("unknown-key").set(PREFIX + "readDeph", 4).start()) {
      assertEquals(0, run(cluster).bytesByTcp());
      assertTrue(
          log.lines().stream()
              .anyMatch(
                  line ->
                      line.startsWith("WARN")
                          && line.contains(PREFIX + "readDeph")
                          && line.contains(PREFIX + "readDepth")),
          () -> String.join("\n", log.lines()));
    }
  }

  @Test
  void shouldLeaveMapOutputsToTcpWhenTheBudgetIsUsedUp() {
    try (TestCluster cluster =
        application("budget").set(PREFIX + "maxRegisteredBytes", 0).start()) {
      assertFellBack(run(cluster), "BUDGET_REACHED");
    }
  }

  @Test
  void shouldNameTheReasonWhenTheMasterIsLocal() {
    try (DriverLog log = new DriverLog();
        TestCluster cluster = application("local").executors(1).master("local[*]").start()) {
      Traffic traffic = run(cluster);

      assertEquals(0, traffic.bytesByRdma() + traffic.bytesByTcp(), traffic::toString);
      assertTrue(
          log.lines().stream().anyMatch(line -> line.contains("LOCAL_MODE")),
          () -> String.join("\n", log.lines()));
    }
  }

  /** Some of them leave hardly anything to RDMA; the result is right all the same. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void shouldReturnTheRightResultWhenEveryNumberIsAtTheEndOfItsRange(boolean most) {
    // One of these alone turns RDMA off, for the second executor of a host or on a slow machine.
    Set<String> kept =
        Set.of(
            PREFIX + "port",
            PREFIX + "listenPort",
            PREFIX + "maxRegisteredBytes",
            PREFIX + "registry.timeout");
    TestCluster.Builder application = application(most ? "most" : "least");
    int set = 0;
    for (ConfigEntry<?> entry : RdmaConf.entries()) {
      String[] ends = entry.range().split(" to ");
      if (ends.length == 2 && !kept.contains(entry.sparkKey())) {
        application.set(entry.sparkKey(), ends[most ? 1 : 0]);
        set++;
      }
    }
    assertTrue(set >= 17, "settings: " + set);
    try (TestCluster cluster = application.start()) {
      Traffic traffic = run(cluster);
      assertEquals(traffic.remoteBytes(), traffic.bytesByRdma() + traffic.bytesByTcp());
      assertTrue(cluster.executorLogs().contains("RDMA on"), "RDMA is on");
    }
  }

  private TestCluster.Builder application(String name) {
    return standIn.prepare(TestCluster.builder(name));
  }

  private static Traffic run(TestCluster cluster) {
    Outcome outcome = cluster.run(SCENARIO);
    assertEquals(StockSpark.result(SCENARIO), StockSpark.sorted(outcome.lines()));
    return outcome.traffic();
  }

  private static void assertFellBack(Traffic traffic, String reason) {
    assertEquals(0, traffic.bytesByRdma(), traffic::toString);
    assertTrue(traffic.bytesByTcp() > 0, traffic::toString);
    assertTrue(traffic.fallbacks().containsKey(reason), traffic::toString);
  }

  private static String messages(Throwable error) {
    StringBuilder all = new StringBuilder();
    for (Throwable each = error; each != null; each = each.getCause()) {
      all.append(each).append('\n');
    }
    return all.toString();
  }
}
