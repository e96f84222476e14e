package dev.verbatim.it.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.verbatim.it.spark.fixture.NoDevice;
import dev.verbatim.it.spark.fixture.Scrape;
import org.junit.jupiter.api.Tag;

@Tag("tcp")
class TcpMetricsTest extends MetricsTests {
  TcpMetricsTest() {
    super(new NoDevice());
  }

  @Override
  void check(Scrape scrape) {
    assertEquals(0, scrape.value("verbatim_bytesByRdma"));
    assertEquals(0, scrape.value("verbatim_portsActive"));
    assertEquals(0, scrape.value("verbatim_readLatencyNanos_Count"));
    assertEquals(0, scrape.value("verbatim_registry_executorsWithRdma"));
    assertEquals(EXECUTORS, scrape.value("verbatim_registry_executorsWithoutRdma"));
    assertEquals(scrape.value("verbatim_blocksByTcp"), scrape.value("verbatim_fallbacks"));
  }
}
