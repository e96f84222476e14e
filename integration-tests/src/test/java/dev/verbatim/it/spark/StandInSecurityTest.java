package dev.verbatim.it.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.verbatim.it.spark.fixture.Deadline;
import dev.verbatim.it.spark.fixture.DriverLog;
import dev.verbatim.it.spark.fixture.Scenario;
import dev.verbatim.it.spark.fixture.StandIn;
import dev.verbatim.it.spark.fixture.TestCluster;
import dev.verbatim.shuffle.RdmaShuffleManager;
import dev.verbatim.shuffle.metrics.CounterSnapshot;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

/** An application with Spark's authentication: who may connect, and what may be read. */
@Tag("standin")
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class StandInSecurityTest extends ApplicationTests {
  private static final String SECRET = "nobody-shall-read-this-anywhere";
  private static final long PAGE = 4096;

  private final StandIn standIn;
  private final DriverLog driverLog = new DriverLog();

  StandInSecurityTest() {
    StandIn device = new StandIn();
    super(device);
    standIn = device;
  }

  @Override
  Collection<Scenario> scenarios() {
    return List.of(Scenario.REPARTITION, Scenario.LARGE_PARTITION);
  }

  @Override
  TestCluster.Builder settings(TestCluster.Builder application) {
    return application
        .set("spark.authenticate", true)
        .set("spark.authenticate.secret", SECRET)
        .set("spark.shuffle.rdma.copyThreshold", "16k");
  }

  @Test
  @Order(1)
  void shouldUseRdmaBetweenExecutorsThatProveTheSecret() {
    runUndisturbed(Scenario.REPARTITION);
    runUndisturbed(Scenario.LARGE_PARTITION);
  }

  /** Every byte that the device lets peers read was counted as a map output's. */
  @Test
  @Order(2)
  void shouldLetPeersReadMapOutputsAndNothingElse() {
    Deadline.await(
        "accounting for all readable bytes",
        Duration.ofSeconds(30),
        this::allAccounted,
        () -> RdmaShuffleManager.report().total() + " " + standIn.counters());
    for (Map<String, Long> process : standIn.counters().values()) {
      assertEquals(0, process.get("registrations_other"), process::toString);
    }
  }

  private boolean allAccounted() {
    CounterSnapshot counted = RdmaShuffleManager.report().total();
    long readable =
        standIn.counters().values().stream()
            .mapToLong(process -> process.get("remote_bytes"))
            .sum();
    long rounding = PAGE * counted.regions();
    return counted.registeredBytes() > 0
        && counted.registeredBytes() <= readable
        && readable <= counted.registeredBytes() + rounding;
  }

  @Test
  @Order(3)
  void shouldKeepTheSecretOutOfTheLogs() {
    String logs = cluster().executorLogs() + String.join("\n", driverLog.lines());
    assertTrue(logs.contains("RDMA on"), "these are the logs");
    assertFalse(logs.contains(SECRET));
  }

  @Override
  void checkAfterStop() {
    driverLog.close();
    standIn.assertNothingLeft();
  }
}
