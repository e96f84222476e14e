package dev.verbatim.it.spark;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.verbatim.it.spark.fixture.Places;
import dev.verbatim.it.spark.fixture.SparkHome;
import dev.verbatim.it.spark.fixture.SparkSubmission;
import dev.verbatim.it.spark.fixture.StandIn;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What Spark calls its hosts. All other tests have IPv4 addresses. */
@Tag("standin")
class AddressesTest {
  private final StandIn standIn = new StandIn();

  @Test
  void shouldUseRdmaWhenSparkCallsItsHostsByName() {
    submission(Map.of("SPARK_LOCAL_HOSTNAME", "localhost")).run().assertByRdma();
  }

  @Test
  void shouldUseRdmaWhenSparkAndTheDeviceHaveIpv6Addresses()
      throws SocketException, UnknownHostException {
    InetAddress loopback = InetAddress.getByName("::1");
    assumeTrue(NetworkInterface.getByInetAddress(loopback) != null, "this machine has no IPv6");

    submission(Map.of("SPARK_LOCAL_IP", "::1", "VERBATIM_STANDIN_ADDRESS", "::1"))
        .set("spark.driver.extraJavaOptions", "-Djava.net.preferIPv6Addresses=true")
        .set("spark.executor.extraJavaOptions", "-Djava.net.preferIPv6Addresses=true")
        .run()
        .assertByRdma();
  }

  private SparkSubmission submission(Map<String, String> variables) {
    Map<String, String> environment = new HashMap<>(standIn.environment());
    environment.putAll(variables);
    return new SparkSubmission(SparkHome.create(List.of(Places.pluginJar())), environment);
  }
}
