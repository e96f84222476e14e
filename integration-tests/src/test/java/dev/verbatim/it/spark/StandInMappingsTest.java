package dev.verbatim.it.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.verbatim.it.spark.fixture.Deadline;
import dev.verbatim.it.spark.fixture.Executors;
import dev.verbatim.it.spark.fixture.Feature;
import dev.verbatim.it.spark.fixture.Job;
import dev.verbatim.it.spark.fixture.MappingBallast;
import dev.verbatim.it.spark.fixture.StandIn;
import dev.verbatim.it.spark.fixture.TestCluster;
import dev.verbatim.it.spark.fixture.TestCluster.Outcome;
import dev.verbatim.it.spark.fixture.Traffic;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

/** Executors whose memory the kernel really does not map any more, while each file is mapped. */
@Tag("standin")
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class StandInMappingsTest extends ApplicationTests {
  private static final int EXECUTORS = 2;

  /** Left to the JVM; fewer than there are map outputs for each executor. */
  private static final int FEW = 300;

  /** What is never taken for map outputs, as the product says. */
  private static final long RESERVE = 65_530 / 16;

  /**
   * Bytes left to the JVM, whose own threads and buffers would else meet the limit; less than a map
   * output.
   */
  private static final long ROOM = 256 << 20;

  private final StandIn standIn;
  private Set<Long> processes;

  StandInMappingsTest() {
    StandIn device = new StandIn();
    super(device);
    standIn = device;
  }

  @Override
  Collection<? extends Job> scenarios() {
    return List.of(Feature.FEW_MAPS, Feature.LARGE_OUTPUTS);
  }

  @Override
  TestCluster.Builder settings(TestCluster.Builder application) {
    return application
        .executors(EXECUTORS)
        .set("spark.executorEnv.MALLOC_ARENA_MAX", 1) // each takes 64 MiB of the address space
        .set("spark.shuffle.rdma.copyThreshold", 0);
  }

  @BeforeAll
  void remember() {
    processes = executors();
  }

  private static Set<Long> executors() {
    return Executors.running().values().stream()
        .map(ProcessHandle::pid)
        .collect(Collectors.toSet());
  }

  private Traffic run(Feature job, Feature oracle) {
    Outcome outcome = cluster().run(job);
    assertResult(oracle, outcome.lines());
    assertEquals(0, outcome.traffic().fetchFailures(), outcome.traffic()::toString);
    assertEquals(processes, executors(), "no executor died");
    return outcome.traffic();
  }

  private void leave(long mappings) {
    Map<String, String> counts =
        cluster().inEachExecutor(EXECUTORS, () -> Long.toString(MappingBallast.fill(mappings)));
    counts.forEach(
        (executor, count) ->
            assertEquals(MappingBallast.limit() - mappings, Long.parseLong(count), 50.0));
  }

  private void giveBack() {
    cluster().inEachExecutor(EXECUTORS, () -> Long.toString(MappingBallast.release()));
  }

  @Test
  @Order(1)
  void shouldUseTcpWhenTheAddressSpaceOfAnExecutorIsLimited() throws Exception {
    run(Feature.FEW_MAPS, Feature.FEW_MAPS);
    for (long process : processes) {
      limitAddressSpace(process, Long.toString(addressSpace(process) + ROOM));
    }
    Traffic traffic = run(Feature.LARGE_OUTPUTS, Feature.LARGE_OUTPUTS);

    assertTrue(traffic.fallbacks().containsKey("MAPPING_LIMIT"), traffic::toString);
    assertTrue(
        Set.of("MAPPING_LIMIT", "POOL_EXHAUSTED").containsAll(traffic.fallbacks().keySet()),
        traffic::toString);
    String log = cluster().executorLogs(); // says each reason once
    assertTrue(log.contains("failed: ENOMEM"), "what failed is told");
    assertTrue(log.contains("vm.max_map_count is " + MappingBallast.limit()), "and the limits");
    assertTrue(log.matches("(?s).*RLIMIT_AS is [0-9]+ bytes.*"), "and the limits");
    for (long process : processes) {
      limitAddressSpace(process, "unlimited");
    }
    awaitRdma(Feature.LARGE_OUTPUTS, Feature.LARGE_OUTPUTS);
  }

  @Test
  @Order(2)
  void shouldUseTcpAndLeaveTheJvmItsLastMappingsWhenTheLimitIsNear() {
    assertEquals(0, run(Feature.MAPS_1000, Feature.FEW_MAPS).bytesByTcp());
    leave(FEW);
    // For up to a second a process goes by what it has counted before.
    Deadline.await(
        "TCP alone",
        Duration.ofSeconds(60),
        () -> {
          Traffic traffic = run(Feature.MAPS_1000, Feature.FEW_MAPS);
          assertEquals(Set.of("MAPPING_LIMIT"), traffic.fallbacks().keySet());
          return traffic.bytesByRdma() == 0;
        },
        () -> cluster().traffic());
    assertFalse(
        cluster().executorLogs().contains("OutOfMemoryError"),
        "none of what the JVM needs was refused");
  }

  @Test
  @Order(3)
  void shouldMapWhatTheReserveAllowsAndLeaveTheRestToTcp() {
    leave(RESERVE + 200);
    Traffic traffic = run(Feature.MAPS_1000, Feature.FEW_MAPS);

    assertTrue(traffic.bytesByRdma() > 0, traffic::toString);
    assertTrue(traffic.bytesByTcp() > 0, traffic::toString);
    assertEquals(Set.of("MAPPING_LIMIT"), traffic.fallbacks().keySet());
    giveBack();
    awaitRdma(Feature.MAPS_1000, Feature.FEW_MAPS);
  }

  /** The soft limit alone: not everybody may raise the other again. */
  private static void limitAddressSpace(long process, String bytes) throws Exception {
    assertEquals(
        0,
        new ProcessBuilder("prlimit", "--pid", Long.toString(process), "--as=" + bytes + ":")
            .inheritIO()
            .start()
            .waitFor());
  }

  private static long addressSpace(long process) {
    try {
      return Files.readAllLines(Path.of("/proc/" + process + "/status")).stream()
          .filter(line -> line.startsWith("VmSize:"))
          .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) << 10)
          .findFirst()
          .orElseThrow();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** For up to a second a process need not notice that there is room again. */
  private void awaitRdma(Feature job, Feature oracle) {
    Deadline.await(
        "RDMA again",
        Duration.ofSeconds(60),
        () -> run(job, oracle).bytesByTcp() == 0,
        () -> cluster().traffic());
  }

  @Override
  void checkAfterStop() {
    standIn.assertNothingLeft();
  }
}
