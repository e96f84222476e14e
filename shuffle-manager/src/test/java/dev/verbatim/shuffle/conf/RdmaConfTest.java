package dev.verbatim.shuffle.conf;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.verbatim.transport.TransportConfig;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.apache.spark.SparkConf;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RdmaConfTest {
  private static final Function<String, Optional<String>> NO_SITE = key -> Optional.empty();

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

    RdmaConf conf = RdmaConf.load(spark, key -> Optional.ofNullable(site.get(key)));

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
  })
  void shouldNameKeyValueAndRangeWhenAValueIsNotValid(String key, String value, String range) {
    String message =
        assertThrows(IllegalArgumentException.class, () -> load(key, value)).getMessage();

    assertAll(
        () -> assertTrue(message.contains("spark.shuffle.rdma." + key), message),
        () -> assertTrue(message.contains("'" + value + "'"), message),
        () -> assertTrue(message.contains(range), message));
  }

  @Test
  void shouldNameTheSiteFileWhenItsValueIsNotValid() {
    String message =
        assertThrows(
                IllegalArgumentException.class,
                () ->
                    RdmaConf.load(
                        new SparkConf(false),
                        key -> key.equals("rdma.port") ? Optional.of("-3") : Optional.empty()))
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

  @ParameterizedTest
  @CsvSource({"10.77.0.1", "fe80::1", "2001:db8::5"})
  void shouldHandTheAddressOnWhenItIsAnIpLiteral(String address) {
    TransportConfig transport = load("address", address).transportConfig();

    assertEquals(ConfigEntry.parseAddress(address), transport.address());
  }
}
