package dev.verbatim.shuffle.conf;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.verbatim.transport.TransportConfig;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.spark.SparkConf;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RdmaConfTest {
  private static final Map<String, String> NO_SITE = Map.of();

  private static RdmaConf load(String key, String value) {
    return RdmaConf.load(new SparkConf(false).set("spark.shuffle.rdma." + key, value), NO_SITE);
  }

  @Test
  void shouldHaveValidDefaultsWhenNothingIsSet() {
    RdmaConf conf = RdmaConf.defaults();

    assertEquals(true, conf.get(RdmaConf.ENABLED));
    assertEquals(4L << 30, conf.get(RdmaConf.MAX_REGISTERED_BYTES));
    assertEquals(Duration.ofNanos(20_000), conf.get(RdmaConf.SPIN));
    assertTrue(conf.warnings().isEmpty());
  }

  @Test
  void shouldPreferSparkOverSiteOverDefaultWhenSeveralSpeak() {
    Map<String, String> site = Map.of("rdma.readDepth", "8", "rdma.trafficClass", "106");
    SparkConf spark = new SparkConf(false).set("spark.shuffle.rdma.readDepth", "4");

    RdmaConf conf = RdmaConf.load(spark, site);

    assertEquals(4, conf.get(RdmaConf.READ_DEPTH));
    assertEquals(106, conf.get(RdmaConf.TRAFFIC_CLASS));
    assertEquals(1, conf.get(RdmaConf.QPS_PER_PEER));
  }

  @ParameterizedTest
  @CsvSource({
    "readDepth,0,1 to 255",
    "readDepth,256,1 to 255",
    "readDepth,many,1 to 255",
    "readDepth,99999999999999999999,1 to 255",
    "trafficClass,-1,0 to 255",
    "enabled,yes,true or false",
    "poolBytes,1m,16m to 1t",
    "poolBytes,9999999t,16m to 1t",
    "poolBytes,1x,16m to 1t",
    "connectTimeout,1us,100ms to 5m",
    "connectTimeout,soon,100ms to 5m",
    "address,host.example,IPv4 or IPv6 literal",
    "address,0.0.0.0,IPv4 or IPv6 literal",
    "address,::,IPv4 or IPv6 literal",
  })
  void shouldNameKeyValueAndRangeWhenAValueIsNotValid(String key, String value, String range) {
    String message =
        assertThrows(IllegalArgumentException.class, () -> load(key, value)).getMessage();

    assertAll(
        () -> assertTrue(message.contains("spark.shuffle.rdma." + key), message),
        () -> assertTrue(message.contains("'" + value + "'"), message),
        () -> assertTrue(message.contains(range), message));
  }

  /** Each value is in its range, but not beside the others. */
  @ParameterizedTest
  @CsvSource({"poolBytes,16777216,slabBytes,16777217", "maxConnections,7,qpsPerPeer,8"})
  void shouldNameTheKeysWhenValuesDoNotFitTogether(
      String key, String value, String other, String otherValue) {
    SparkConf spark =
        new SparkConf(false)
            .set("spark.shuffle.rdma." + key, value)
            .set("spark.shuffle.rdma." + other, otherValue);

    String message =
        assertThrows(IllegalArgumentException.class, () -> RdmaConf.load(spark, NO_SITE))
            .getMessage();

    assertTrue(message.contains("spark.shuffle.rdma." + key + " = " + value), message);
    assertTrue(message.contains("spark.shuffle.rdma." + other + " = "), message);
  }

  @ParameterizedTest
  @CsvSource({"64k", "65537", "100000", "16m", "1073741823", "1g"})
  void shouldMakeSlabsOfWholePagesWhateverTheirSize(String slabBytes) {
    RdmaConf conf =
        RdmaConf.load(
            new SparkConf(false)
                .set("spark.shuffle.rdma.slabBytes", slabBytes)
                .set("spark.shuffle.rdma.poolBytes", "1g"),
            NO_SITE);

    TransportConfig transport = conf.transportConfig().conclude();

    assertTrue(transport.slabBytes() >= conf.get(RdmaConf.SLAB_BYTES));
  }

  @Test
  void shouldNameTheSiteFileWhenItsValueIsNotValid() {
    String message =
        assertThrows(
                IllegalArgumentException.class,
                () -> RdmaConf.load(new SparkConf(false), Map.of("rdma.port", "-3")))
            .getMessage();

    assertTrue(message.contains("rdma.port (rdma-site.xml)"), message);
  }

  @ParameterizedTest
  @CsvSource({
    "poolBytes,64m,67108864",
    "poolBytes,67108864,67108864",
    "poolBytes,65536K,67108864",
    "poolBytes,64mb,67108864",
  })
  void shouldReadBytesWhenGivenWithOrWithoutUnit(String key, String value, long bytes) {
    assertEquals(bytes, load(key, value).get(RdmaConf.POOL_BYTES));
  }

  @ParameterizedTest
  @CsvSource({"2500,2500", "3s,3000", "1m,60000", "1min,60000", "250000us,250"})
  void shouldReadTimesWhenGivenWithOrWithoutUnit(String value, long millis) {
    assertEquals(
        Duration.ofMillis(millis), load("connectTimeout", value).get(RdmaConf.CONNECT_TIMEOUT));
  }

  @ParameterizedTest
  @CsvSource({
    "readdepth,readDepth",
    "pool.bytes,poolBytes",
    "maxRegisterdBytes,maxRegisteredBytes",
    "registry.timout,registry.timeout",
  })
  void shouldWarnWithTheNearestKeyWhenAKeyIsUnknown(String wrong, String meant) {
    String warning = load(wrong, "1").warnings().getFirst();

    assertTrue(warning.startsWith("spark.shuffle.rdma." + wrong + " is not a known"), warning);
    assertTrue(warning.endsWith("nearest: spark.shuffle.rdma." + meant), warning);
  }

  @Test
  void shouldWarnOfUnknownKeysOfTheSiteFileToo() {
    List<String> warnings =
        RdmaConf.load(new SparkConf(false), Map.of("rdma.readDeph", "8", "rdma.port", "1"))
            .warnings();

    assertEquals(1, warnings.size(), warnings::toString);
    assertTrue(warnings.getFirst().startsWith("rdma.readDeph of rdma-site.xml is not a known"));
    assertTrue(warnings.getFirst().endsWith("nearest: rdma.readDepth"), warnings::toString);
  }

  @ParameterizedTest
  @CsvSource({"10.77.0.1", "fe80::1", "2001:db8::5"})
  void shouldHandTheAddressOnWhenItIsAnIpLiteral(String address) {
    TransportConfig transport = load("address", address).transportConfig();

    assertEquals(ConfigEntry.parseAddress(address), transport.address());
  }
}
