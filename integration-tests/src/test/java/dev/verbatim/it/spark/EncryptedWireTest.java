package dev.verbatim.it.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.verbatim.it.spark.fixture.Scenario;
import dev.verbatim.it.spark.fixture.StockSpark;
import dev.verbatim.it.spark.fixture.TestCluster;
import dev.verbatim.it.spark.fixture.TestCluster.Outcome;
import dev.verbatim.it.spark.fixture.Traffic;
import dev.verbatim.it.spark.fixture.TwoGuests;
import dev.verbatim.it.spark.fixture.WireCapture;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * What travels between two machines where Spark is told to encrypt: nothing that can be read. That
 * the same text is found on either wire without encryption is shown by {@link StandaloneWireTest}.
 */
@Tag("wire")
class EncryptedWireTest {
  private static final Scenario SCENARIO = Scenario.GROUP_BY_KEY;

  @BeforeAll
  static void compute() {
    StockSpark.compute(List.of(SCENARIO));
  }

  @Test
  void shouldSendNoPlainBytesByTcpWhenTheNetworkMustBeEncrypted() {
    Traffic traffic = runCaptured(encrypted("wire-network-encryption"));

    assertEquals(0, traffic.bytesByRdma(), traffic::toString);
    assertTrue(traffic.bytesByTcp() > 0, traffic::toString);
    assertTrue(traffic.fallbacks().containsKey("ENCRYPTION_REQUIRED"), traffic::toString);
  }

  @Test
  void shouldSendNoPlainBytesByRdmaWhenTheFilesAreEncryptedToo() {
    Traffic traffic =
        runCaptured(encrypted("wire-file-encryption").set("spark.io.encryption.enabled", true));

    assertTrue(traffic.bytesByRdma() > 0, traffic::toString);
    assertEquals(0, traffic.bytesByTcp(), traffic::toString);
  }

  private static TestCluster.Builder encrypted(String name) {
    return new TwoGuests()
        .prepare(TestCluster.builder(name))
        .set("spark.network.crypto.enabled", true);
  }

  /** Runs an application from its start to its end while both wires are listened to. */
  private static Traffic runCaptured(TestCluster.Builder application) {
    WireCapture rdmaWire = WireCapture.start(WireCapture.RDMA_WIRE);
    WireCapture tcpWire = WireCapture.start(WireCapture.TCP_WIRE);
    Outcome outcome;
    try (rdmaWire;
        tcpWire;
        TestCluster cluster = application.start()) {
      outcome = cluster.run(SCENARIO);
    }
    assertEquals(StockSpark.result(SCENARIO), StockSpark.sorted(outcome.lines()));
    String byRdma = rdmaWire.packets(WireCapture.ALL);
    String byTcp = tcpWire.packets(WireCapture.ALL);
    Traffic traffic = outcome.traffic();
    assertTrue(byRdma.length() > traffic.bytesByRdma(), "the capture must hold what came by RDMA");
    assertTrue(byTcp.length() > traffic.bytesByTcp(), "the capture must hold what came by TCP");
    assertFalse(byRdma.contains(WireCapture.KNOWN_TEXT), "plain bytes on the RDMA wire");
    assertFalse(byTcp.contains(WireCapture.KNOWN_TEXT), "plain bytes on the TCP wire");
    return traffic;
  }
}
