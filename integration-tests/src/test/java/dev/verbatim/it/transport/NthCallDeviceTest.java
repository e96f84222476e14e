package dev.verbatim.it.transport;

import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.verbatim.it.transport.PortControl.StandInFaults;
import dev.verbatim.transport.ConnectException;
import dev.verbatim.transport.MemoryRegion;
import dev.verbatim.transport.OpenResult;
import dev.verbatim.transport.PeerAddress;
import dev.verbatim.transport.PeerConnection;
import dev.verbatim.transport.RdmaTransport;
import dev.verbatim.transport.ReadFailure;
import dev.verbatim.transport.TransportConfig;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Each call of the device's fails once: the first, the second, as far as there are any. */
@EnabledIfEnvironmentVariable(
    named = "VERBATIM_STANDIN_DIR",
    matches = ".+",
    disabledReason = "only the stand-in device fails when a test wants it")
class NthCallDeviceTest extends DeviceTest {
  private static final int MOST_CALLS = 50;
  private static final int REGION = 64 << 10;

  private long before;

  @ParameterizedTest
  @ValueSource(
      strings = {
        "get_device_list",
        "open_device",
        "alloc_pd",
        "create_comp_channel",
        "create_cq",
        "reg_mr",
        "bind_addr",
        "listen"
      })
  void shouldOpenOrSayWhyWhicheverCallFails(String call) throws Exception {
    int refused = 0;
    int nth = 1;
    while (failsOnce(call, nth)) {
      OpenResult result = RdmaTransport.open(config("lonely"));
      switch (result) {
        case OpenResult.Opened opened -> opened.transport().close();
        case OpenResult.Unavailable unavailable -> {
          refused++;
          assertTrue(unavailable.seen().contains("ENOMEM"), unavailable::toString);
        }
      }
      if (hits() == 0) {
        break;
      }
      StandInCounters.assertNothingLeft();
      nth++;
    }
    assertTrue(nth > 1, "the call is made");
    assertTrue(refused > 0, "some call cannot be done without");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"create_qp", "resolve_addr", "resolve_route", "connect", "accept", "post_send"})
  void shouldReadInTheEndWhicheverCallFails(String call) throws Exception {
    int nth = 1;
    while (failsOnce(call, nth)) {
      RdmaTransport server = open(config("server " + nth));
      RdmaTransport reader = open(config("reader " + nth));
      MemoryRegion region = patternRegion(server, REGION);
      PeerAddress address = Transports.address("server " + nth, server);
      meetFailure(reader, address, region);
      meetFailure(reader, address, region);
      boolean met = hits() > 0;
      StandInFaults.set("");
      PeerConnection connection = Transports.connectEventually(reader, address);
      assertReads(reader, connection, region, 0, REGION);
      if (!met) {
        break;
      }
      reader.close();
      server.close();
      Transports.assertNothingLeft(reader);
      Transports.assertNothingLeft(server);
      StandInCounters.assertNothingLeft();
      nth++;
    }
    assertTrue(nth > 1, "the call is made");
  }

  /** One READ on the way of which the call fails, or not. */
  private static void meetFailure(RdmaTransport reader, PeerAddress address, MemoryRegion region)
      throws Exception {
    try {
      PeerConnection connection = Transports.connect(reader, address);
      ReadFailure failure =
          post(reader, connection, region.iova(), region.rkey(), REGION).awaitEnd();
      assertTrue(failure == null || failure.detail().contains("ENOMEM"), () -> "" + failure);
    } catch (ExecutionException e) {
      assertInstanceOf(ConnectException.class, e.getCause());
    }
  }

  private boolean failsOnce(String call, int nth) throws Exception {
    Thread.sleep(50); // the counters follow within 20 ms
    before = StandInCounters.of("fault_hits");
    StandInFaults.set(call + " errno=ENOMEM nth=" + nth);
    assertTrue(nth <= MOST_CALLS, "no end of calls");
    return true;
  }

  private long hits() throws InterruptedException {
    Thread.sleep(50);
    return StandInCounters.of("fault_hits") - before;
  }

  private static TransportConfig config(String name) {
    return Transports.config(name)
        .poolBytes(1 << 20)
        .slabBytes(1 << 20)
        .retryBackoff(Duration.ZERO);
  }
}
