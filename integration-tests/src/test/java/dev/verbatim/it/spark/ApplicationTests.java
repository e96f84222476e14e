package dev.verbatim.it.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.verbatim.it.spark.fixture.Deadline;
import dev.verbatim.it.spark.fixture.Device;
import dev.verbatim.it.spark.fixture.Job;
import dev.verbatim.it.spark.fixture.Scenario;
import dev.verbatim.it.spark.fixture.StockSpark;
import dev.verbatim.it.spark.fixture.TestCluster;
import dev.verbatim.it.spark.fixture.TestCluster.Outcome;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;

/** Tests that share one application on one kind of device. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class ApplicationTests {
  private final Device device;
  private TestCluster cluster;

  ApplicationTests(Device device) {
    this.device = device;
  }

  /** The jobs whose results under stock Spark are needed. */
  abstract Collection<? extends Job> scenarios();

  /** Settings of the application beyond those of the device. */
  abstract TestCluster.Builder settings(TestCluster.Builder application);

  final Device device() {
    return device;
  }

  final TestCluster cluster() {
    return cluster;
  }

  @BeforeAll
  final void start() {
    StockSpark.compute(scenarios());
    cluster = settings(device.prepare(TestCluster.builder(getClass().getSimpleName()))).start();
  }

  @AfterAll
  final void stop() {
    if (cluster != null) {
      cluster.close();
      checkAfterStop();
    }
  }

  /** What must hold when all processes of the application have ended. */
  void checkAfterStop() {}

  /** Runs a job and checks everything that holds for a job that meets no trouble. */
  final Outcome runUndisturbed(Job job) {
    Outcome outcome = cluster.run(job);

    assertResult(job, outcome.lines());
    assertTrue(outcome.traffic().remoteBytes() > 0, "some blocks must come from another executor");
    assertEquals(0, outcome.traffic().fetchFailures());
    device.assertTravelled(outcome.traffic());
    return outcome;
  }

  /** Waits until all blocks come by RDMA again. */
  final void awaitReturnToRdma() {
    Deadline.await(
        "return to RDMA",
        Duration.ofSeconds(60),
        this::travelsByRdmaAgain,
        () -> cluster.traffic());
    runUndisturbed(Scenario.GROUP_BY_KEY);
  }

  private boolean travelsByRdmaAgain() {
    Outcome outcome = cluster.run(Scenario.GROUP_BY_KEY);
    assertResult(Scenario.GROUP_BY_KEY, outcome.lines());
    return outcome.traffic().bytesByTcp() == 0;
  }

  static void assertResult(Job job, List<String> lines) {
    assertFalse(lines.isEmpty());
    assertEquals(StockSpark.result(job), StockSpark.sorted(lines));
  }
}
