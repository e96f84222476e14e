package dev.verbatim.it.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.verbatim.it.machine.Iwarp;
import dev.verbatim.it.transport.PortControl.StandInFaults;
import dev.verbatim.transport.MemoryRegion;
import dev.verbatim.transport.PeerAddress;
import dev.verbatim.transport.PeerConnection;
import dev.verbatim.transport.RdmaTransport;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Who is not meant to gets no connection, and no byte; who is gets both meanwhile. */
class SecurityDeviceTest extends DeviceTest {
  private static final long REGION = 1 << 20;

  @ParameterizedTest
  @ValueSource(
      strings = {"neighbour's address", "neighbour's key", "re-used address", "re-used key"})
  void shouldRefuseAReadByAnAddressAndAKeyThatDoNotBelongTogether(String what) throws Exception {
    if (what.equals("re-used address")) {
      Iwarp.assumeAbsent("siw goes by virtual addresses, which may be the same again");
    }
    RdmaTransport server = open("server");
    RdmaTransport reader = open("reader");
    PeerAddress address = Transports.address("server", server);
    PeerConnection connection = Transports.connect(reader, address);
    MemoryRegion first = patternRegion(server, REGION);
    long firstIova = first.iova();
    int firstKey = first.rkey();
    if (what.startsWith("re-used")) {
      // Most likely the same memory and the same slot of the device's table again.
      first.close();
    }
    MemoryRegion second = patternRegion(server, REGION);
    Outcome outcome =
        what.endsWith("address")
            ? post(reader, connection, firstIova, second.rkey(), 1)
            : post(reader, connection, second.iova(), firstKey, 1);
    outcome.assertFailed(REFUSED);
    PeerConnection again = Transports.connectEventually(reader, address);
    assertReads(reader, again, second, 0, REGION);
  }

  /** Two processes of one application: the key of one opens nothing at the other. */
  @Test
  void shouldRefuseAReadWithTheAddressAndKeyOfAnotherProcess() throws Exception {
    RdmaTransport server = open("server");
    RdmaTransport other = open("other");
    RdmaTransport reader = open("reader");
    patternRegion(server, REGION);
    MemoryRegion region = patternRegion(other, REGION);
    PeerConnection connection = Transports.connect(reader, Transports.address("server", server));
    post(reader, connection, region.iova(), region.rkey(), 1).assertFailed(REFUSED);
    PeerConnection right = Transports.connect(reader, Transports.address("other", other));
    assertReads(reader, right, region, 0, REGION);
  }

  @Test
  void shouldRefuseAPeerThatKnowsAnEarlierProcessOfTheSameNameAndAddress() throws Exception {
    RdmaTransport server = open("server");
    RdmaTransport reader = open("reader");
    PeerAddress now = Transports.address("server", server);
    PeerAddress before = new PeerAddress(now.name(), now.address(), now.challenge() + 1);
    ExecutionException refused =
        assertThrows(ExecutionException.class, () -> Transports.connect(reader, before));
    assertTrue(refused.getMessage().contains("WRONG_PEER"), refused.getMessage());
    assertEquals(Map.of("WRONG_PEER", 1L), server.counters().connectsRefused());
  }

  @Test
  void shouldConnectGoodPeersDuringAFloodOfBadRequests() throws Exception {
    RdmaTransport server = open("server");
    MemoryRegion region = patternRegion(server, 4096);
    PeerAddress address = Transports.address("server", server);
    int readers = StandInFaults.present() ? 40 : 8;
    long alone = median(connectTimes(server, region, "alone", readers));
    try (Flood flood = new Flood(address, StandInFaults.present() ? 100_000 : 20_000)) {
      Transports.await("the flood", () -> refused(server) > 200);
      long before = refused(server);
      List<Long> times = connectTimes(server, region, "flooded", readers);
      long during = refused(server) - before;
      assertTrue(flood.goesOn(), "the flood was over before the last good connect");
      System.out.printf(
          "%d good connects during %d refusals: median %d us, longest %d us; alone %d us%n",
          readers, during, median(times), Collections.max(times), alone);
      assertTrue(during > readers, "no flood: " + during + " refusals");
      assertEquals(readers, server.counters().queuePairs(), "nothing is kept of bad requests");
      flood.stop();
      assertEquals(flood.ended(), refused(server), "every bad request is counted");
      assertEquals(Map.of("APPLICATION", refused(server)), server.counters().connectsRefused());
    }
  }

  private static long refused(RdmaTransport server) {
    return server.counters().connectsRefused().getOrDefault("APPLICATION", 0L);
  }

  private static long median(List<Long> times) {
    return times.stream().sorted().toList().get(times.size() / 2);
  }

  /** Microseconds that each of some peers needs to connect, at its first try. */
  private List<Long> connectTimes(
      RdmaTransport server, MemoryRegion region, String name, int readers) throws Exception {
    List<Long> times = new ArrayList<>();
    List<RdmaTransport> opened = new ArrayList<>();
    for (int i = 0; i < readers; i++) {
      RdmaTransport reader =
          open(Transports.config(name + i).poolBytes(1 << 20).slabBytes(1 << 20));
      opened.add(reader);
      long start = System.nanoTime();
      PeerConnection connection = Transports.connect(reader, Transports.address("server", server));
      times.add((System.nanoTime() - start) / 1000);
      assertReads(reader, connection, region, 0, 4096);
    }
    if (name.equals("alone")) {
      opened.forEach(RdmaTransport::close);
      Transports.await("gone", () -> server.counters().queuePairs() == 0);
    }
    return times;
  }

  /** A process of another application that asks again and again, many times at once. */
  private static final class Flood implements AutoCloseable {
    private static final int AT_ONCE = 100;

    private final PeerAddress target;
    private final RdmaTransport stranger;
    private final AtomicInteger left;
    private final AtomicInteger underWay = new AtomicInteger();
    private final AtomicLong ended = new AtomicLong();

    /**
     * @param most requests at most
     */
    Flood(PeerAddress target, int most) {
      this.target = target;
      this.left = new AtomicInteger(most);
      stranger =
          Transports.open(
              Transports.config("stranger")
                  .applicationToken("another".getBytes())
                  .connectTimeout(Duration.ofSeconds(30))
                  .retryBackoff(Duration.ZERO)
                  .maxConnections(2 * AT_ONCE));
      for (int i = 0; i < AT_ONCE; i++) {
        ask(i);
      }
    }

    private void ask(int number) {
      if (left.getAndDecrement() <= 0) {
        return;
      }
      underWay.incrementAndGet();
      stranger
          .connect(new PeerAddress("peer " + number, target.address(), target.challenge()))
          .whenComplete(
              (connection, refusal) -> {
                if (refusal != null && refusal.getMessage().contains("APPLICATION")) {
                  ended.incrementAndGet();
                }
                ask(number);
                underWay.decrementAndGet();
              });
    }

    boolean goesOn() {
      return left.get() > 0;
    }

    /** Requests that were refused for the right reason. */
    long ended() {
      return ended.get();
    }

    void stop() throws InterruptedException {
      left.set(0);
      Transports.await("the last refusal", () -> underWay.get() == 0);
    }

    @Override
    public void close() {
      left.set(0);
      stranger.close();
    }
  }
}
