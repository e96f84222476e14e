package dev.verbatim.it.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.verbatim.it.spark.fixture.KeyStore;
import dev.verbatim.it.spark.fixture.Scenario;
import dev.verbatim.it.spark.fixture.StandIn;
import dev.verbatim.it.spark.fixture.StockSpark;
import dev.verbatim.it.spark.fixture.TestCluster;
import dev.verbatim.it.spark.fixture.TestCluster.Outcome;
import dev.verbatim.it.spark.fixture.Traffic;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Settings of Spark that say whether blocks may travel in clear. */
@Tag("standin")
class EncryptionTest {
  private static final Scenario SCENARIO = Scenario.REPARTITION;
  private static final String CRYPTO = "spark.network.crypto.enabled";
  private static final String SASL = "spark.authenticate.enableSaslEncryption";
  private static final String ALLOW = "spark.shuffle.rdma.allowUnencrypted";

  private final StandIn standIn = new StandIn();

  @BeforeAll
  static void compute() {
    StockSpark.compute(List.of(SCENARIO));
  }

  @Test
  void shouldUseTcpWhenTheNetworkMustBeEncrypted() {
    assertByTcp(authenticated("network-crypto").set(CRYPTO, true));
  }

  @Test
  void shouldUseTcpWhenTheNetworkMustBeEncryptedBySasl() {
    assertByTcp(authenticated("sasl-encryption").set(SASL, true));
  }

  @Test
  void shouldUseTcpWhenRpcMustBeEncryptedByTls() {
    assertByTcp(new KeyStore().prepare(application("rpc-tls")));
  }

  @Test
  void shouldUseRdmaWhenTheFilesAreEncryptedAlready() {
    assertByRdma(
        authenticated("file-encryption")
            .set(CRYPTO, true)
            .set("spark.io.encryption.enabled", true));
  }

  @Test
  void shouldUseRdmaWhenTheUserAllowsClearBlocksInAnEncryptedNetwork() {
    assertByRdma(
        new KeyStore()
            .prepare(authenticated("allowed-in-clear").set(CRYPTO, true).set(ALLOW, true)));
  }

  private TestCluster.Builder application(String name) {
    return standIn.prepare(TestCluster.builder(name));
  }

  private TestCluster.Builder authenticated(String name) {
    return application(name)
        .set("spark.authenticate", true)
        .set("spark.authenticate.secret", "between us");
  }

  private void assertByRdma(TestCluster.Builder application) {
    Traffic traffic = run(application);

    assertTrue(traffic.bytesByRdma() > 0, traffic::toString);
    standIn.assertTravelled(traffic);
  }

  private static void assertByTcp(TestCluster.Builder application) {
    Traffic traffic = run(application);

    assertEquals(0, traffic.bytesByRdma(), traffic::toString);
    assertTrue(traffic.bytesByTcp() > 0, traffic::toString);
    assertEquals(Set.of("ENCRYPTION_REQUIRED"), traffic.fallbacks().keySet());
  }

  private static Traffic run(TestCluster.Builder application) {
    try (TestCluster cluster = application.start()) {
      Outcome outcome = cluster.run(SCENARIO);
      assertEquals(StockSpark.result(SCENARIO), StockSpark.sorted(outcome.lines()));
      return outcome.traffic();
    }
  }
}
