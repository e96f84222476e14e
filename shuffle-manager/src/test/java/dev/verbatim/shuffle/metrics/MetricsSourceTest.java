package dev.verbatim.shuffle.metrics;

import static java.util.Map.entry;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.codahale.metrics.MetricRegistry;
import dev.verbatim.shuffle.fallback.FallbackReason;
import dev.verbatim.shuffle.metrics.ShuffleReport.ExecutorReport;
import dev.verbatim.transport.LatencyCounts;
import dev.verbatim.transport.TransportCounters;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class MetricsSourceTest {
  private static final TransportCounters TRANSPORT =
      new TransportCounters(
          13,
          14,
          30,
          3000,
          LatencyCounts.of(Map.of(5, 6L)),
          Map.of("RETRY_EXC_ERR", 22L, "DEADLINE", 1L),
          15,
          5,
          16,
          6,
          Map.of("PROTOCOL", 17L),
          7,
          8,
          9_000,
          10,
          11_000,
          12,
          Map.of("PORT_ERR", 1L, "PORT_ACTIVE", 18L));

  private static ShuffleCounters counters() {
    ShuffleCounters counters = new ShuffleCounters();
    counters.blockByRdma(100);
    counters.blockByTcp(42);
    counters.blockByTcp(7);
    counters.fallback(FallbackReason.BUDGET_REACHED, 33);
    counters.fallback(FallbackReason.READ_FAILED, 1);
    for (int i = 0; i < 3; i++) {
      counters.outputRegistered(50);
    }
    for (int i = 0; i < 4; i++) {
      counters.outputDeclined();
    }
    counters.handedOver(60);
    counters.regions(20, 4096);
    counters.include(() -> TRANSPORT);
    return counters;
  }

  private static Object value(MetricRegistry registry, String name) {
    return registry.getGauges().get(name).getValue();
  }

  @Test
  void shouldTellTheNumbersOfAnExecutor() {
    MetricRegistry registry = MetricsSource.ofExecutor(counters()).metricRegistry();

    Map<String, Long> expected =
        Map.ofEntries(
            entry("bytesByRdma", 100L),
            entry("blocksByRdma", 1L),
            entry("bytesByTcp", 49L),
            entry("blocksByTcp", 2L),
            entry("fallbacks", 34L),
            entry("outputsRegistered", 3L),
            entry("outputsDeclined", 4L),
            entry("registerNanos", 150L),
            entry("handOverNanos", 60L),
            entry("registeredBytes", 4096L),
            entry("regions", 20L),
            entry("pinnedBytes", 9_000L),
            entry("pinnedRegions", 8L),
            entry("mappings", 10L),
            entry("poolBytes", 11_000L),
            entry("poolUsedBytes", 12L),
            entry("queuePairs", 7L),
            entry("portsActive", 13L),
            entry("devicesLost", 14L),
            entry("reads", 30L),
            entry("readBytes", 3_000L),
            entry("readFailures", 23L),
            entry("connects", 15L),
            entry("reconnects", 5L),
            entry("connectsFailed", 16L),
            entry("connectsAccepted", 6L),
            entry("connectsRefused", 17L),
            entry("asyncEvents", 19L));
    assertEquals(ShuffleMetric.values().length, expected.size());
    expected.forEach((name, value) -> assertEquals(value, value(registry, name), name));
    assertEquals(33L, value(registry, "fallback.BUDGET_REACHED"));
    assertEquals(0L, value(registry, "fallback.MEMLOCK"));
    assertEquals(22L, value(registry, "readFailure.RETRY_EXC_ERR"));
    assertEquals(1L, value(registry, "readFailure.DEADLINE"));
    assertEquals(0L, value(registry, "readFailure.WR_FLUSH_ERR"));
    assertEquals(6, registry.getHistograms().get("readLatencyNanos").getCount());
  }

  @Test
  void shouldOnlyGrowWhenABlockIsTakenBack() throws InterruptedException {
    ShuffleCounters counters = counters();
    MetricRegistry registry = MetricsSource.ofExecutor(counters).metricRegistry();
    assertEquals(100L, value(registry, "bytesByRdma"));
    assertEquals(1L, value(registry, "blocksByRdma"));
    counters.blockByRdmaUnwanted(100);
    counters.regions(-20, -4096);
    TimeUnit.MILLISECONDS.sleep(1100); // a second's answer is kept
    assertEquals(100L, value(registry, "bytesByRdma"));
    assertEquals(1L, value(registry, "blocksByRdma"));
    assertEquals(0L, value(registry, "registeredBytes"), "no counter");
  }

  private static ApplicationView view(Set<String> living, String... all) {
    return new ApplicationView(
        IntStream.range(0, all.length)
            .boxed()
            .collect(
                Collectors.toMap(
                    i -> all[i], i -> new ExecutorReport("", "", counters().snapshot()))),
        living,
        1,
        17);
  }

  @Test
  void shouldKeepWhatLostExecutorsCountedButNotWhatTheyHeld() {
    MetricsSource source = MetricsSource.ofDriver(() -> view(Set.of("2", "3"), "1", "2"));
    MetricRegistry registry = source.metricRegistry();

    assertEquals(200L, value(registry, "bytesByRdma"));
    assertEquals(66L, value(registry, "fallback.BUDGET_REACHED"));
    assertEquals(12, registry.getHistograms().get("readLatencyNanos").getCount());
    assertEquals(13L, value(registry, "portsActive"));
    assertEquals(4096L, value(registry, "registeredBytes"));
    assertEquals(17L, value(registry, "registry.records"));
    assertEquals(1L, value(registry, "registry.executorsWithRdma"));
    assertEquals(1L, value(registry, "registry.executorsWithoutRdma"));
  }

  @Test
  void shouldDocumentEveryName() throws IOException {
    String page = Files.readString(Path.of("../docs/metrics.md"));
    MetricsSource source = MetricsSource.ofDriver(() -> view(Set.of()));

    for (String name : source.metricRegistry().getNames()) {
      String documented = name.replaceFirst("^fallback\\..+", "fallback.<REASON>");
      documented = documented.replaceFirst("^readFailure\\..+", "readFailure.<STATUS>");
      assertTrue(page.contains("| `" + documented + "` |"), name);
    }
  }

  @Test
  void shouldShowTheExecutorsThatAreHere() {
    MetricsSource source = MetricsSource.ofDriver(() -> view(Set.of("1", "12"), "1", "12"));
    MetricRegistry registry = source.metricRegistry();
    int alone = registry.getNames().size();

    source.show(Set.of("1", "12"));
    assertEquals(100L, value(registry, "executor.1.bytesByRdma"));
    assertEquals(6, registry.getHistograms().get("executor.12.readLatencyNanos").getCount());

    source.show(Set.of("12"));
    assertFalse(registry.getNames().contains("executor.1.bytesByRdma"));
    assertTrue(registry.getNames().contains("executor.12.bytesByRdma"));

    source.show(Set.of());
    assertEquals(alone, registry.getNames().size());
  }

  @Test
  void shouldShowNoMoreThanSoManyExecutors() {
    MetricsSource source = MetricsSource.ofDriver(() -> view(Set.of()));
    int alone = source.metricRegistry().getNames().size();

    source.show(
        IntStream.range(0, 2 * MetricsSource.MOST_EXECUTORS)
            .mapToObj(Integer::toString)
            .collect(Collectors.toSet()));

    int each = ShuffleMetric.values().length + 1;
    assertEquals(
        alone + each * MetricsSource.MOST_EXECUTORS, source.metricRegistry().getNames().size());
  }
}
