package dev.verbatim.it.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.verbatim.it.machine.Iwarp;
import dev.verbatim.it.transport.PortControl.StandInFaults;
import dev.verbatim.transport.MemoryRegion;
import dev.verbatim.transport.PeerAddress;
import dev.verbatim.transport.PeerConnection;
import dev.verbatim.transport.QueuePairs;
import dev.verbatim.transport.RdmaTransport;
import dev.verbatim.transport.TransportConfig;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Who is connected with whom, for how long, and who is refused. */
class ConnectDeviceTest extends DeviceTest {
  private static final long REGION = 1 << 20;

  @Test
  void shouldShareOneConnectionAmongAllWhoAsk() throws Exception {
    RdmaTransport server = open("server");
    RdmaTransport reader = open("reader");
    PeerAddress address = Transports.address("server", server);
    var first = reader.connect(address);
    var second = reader.connect(address);
    assertSame(first.get(), second.get());
    assertSame(first.get(), Transports.connect(reader, address));
    assertEquals(1, reader.counters().connectsInitiated());
    assertEquals(1, reader.counters().queuePairs());
  }

  @Test
  void shouldStripeALargeReadOverSeveralQueuePairs() throws Exception {
    RdmaTransport server = open("server");
    RdmaTransport reader = open(Transports.config("reader").qpsPerPeer(4));
    MemoryRegion region = patternRegion(server, REGION);
    PeerConnection connection = Transports.connect(reader, Transports.address("server", server));
    assertEquals(4, reader.counters().queuePairs());
    assertReads(reader, connection, region, 0, REGION);
    assertEquals(4, reader.counters().readsCompleted());
    reader.disconnect("server");
    Transports.await("all queue pairs gone", () -> reader.counters().queuePairs() == 0);
    Transports.await("the server's too", () -> server.counters().queuePairs() == 0);
  }

  /** A depth of 1, which some stacks leave, makes READs many times slower. */
  @Test
  void shouldConnectWithTheReadDepthThatBothSidesAllowAndWaitForPeersThatAreNotReady()
      throws Exception {
    Iwarp.assumeAbsent("no retry counts, and siw tells depths the wrong way round");
    RdmaTransport server = open("server");
    RdmaTransport reader = open(Transports.config("reader").qpsPerPeer(2));
    PeerConnection connection = Transports.connect(reader, Transports.address("server", server));

    List<QueuePairs.Attributes> queuePairs = QueuePairs.of(connection);
    assertEquals(2, queuePairs.size());
    for (QueuePairs.Attributes attributes : queuePairs) {
      int allowed = Math.min(server.info().readDepth(), reader.info().readDepth());
      assertTrue(allowed >= 8, "both devices allow more than what is configured");
      assertEquals(allowed, attributes.readDepth());
      if (!StandInFaults.present()) { // which has numbers of its own
        assertEquals(6, attributes.retries());
        assertEquals(7, attributes.rnrRetries());
      }
    }
  }

  /** Eight more READs than the peer serves at a time must wait, not fail. */
  @Test
  void shouldConnectWithThePeersDepthWhereThatIsLess() throws Exception {
    RdmaTransport server = open(Transports.config("server").readDepth(2));
    RdmaTransport reader = open(Transports.config("reader").maxReadBytes(4096));
    PeerConnection connection = Transports.connect(reader, Transports.address("server", server));

    if (!Iwarp.present()) { // siw tells depths the wrong way round
      assertEquals(2, QueuePairs.of(connection).getFirst().readDepth());
    }
    assertReads(reader, connection, patternRegion(server, 40_960), 0, 40_960);
  }

  @Test
  void shouldServeManyReadersAndForgetThoseThatGo() throws Exception {
    RdmaTransport server = open("server");
    MemoryRegion region = patternRegion(server, 100_000);
    List<RdmaTransport> readers = new ArrayList<>();
    List<Outcome> outcomes = new ArrayList<>();
    int count = 16;
    for (int i = 0; i < count; i++) {
      RdmaTransport reader = open(Transports.config("reader " + i).poolBytes(4 << 20));
      readers.add(reader);
      PeerConnection connection = Transports.connect(reader, Transports.address("server", server));
      outcomes.add(post(reader, connection, region.iova(), region.rkey(), 100_000));
    }
    for (Outcome outcome : outcomes) {
      outcome.assertSucceeded();
    }
    assertEquals(count, server.counters().queuePairs());
    readers.forEach(RdmaTransport::close);
    Transports.await("the server has none", () -> server.counters().queuePairs() == 0);
    assertEquals(count, server.counters().connectsAccepted());
  }

  @Test
  void shouldCloseIdleConnectionsAndConnectAgainWhenAsked() throws Exception {
    RdmaTransport server = open("server");
    RdmaTransport reader = open(Transports.config("reader").idleTimeout(Duration.ofMillis(300)));
    MemoryRegion region = patternRegion(server, 10);
    PeerAddress address = Transports.address("server", server);
    PeerConnection connection = Transports.connect(reader, address);
    assertReads(reader, connection, region, 0, 10);
    Transports.await("closed for idleness", () -> !connection.isOpen());
    Transports.await("gone here", () -> reader.counters().queuePairs() == 0);
    Transports.await("gone there", () -> server.counters().queuePairs() == 0);
    assertReads(reader, Transports.connect(reader, address), region, 0, 10);
  }

  @Test
  void shouldRefuseWhenTheBudgetOfQueuePairsIsReached() throws Exception {
    RdmaTransport small = open(Transports.config("small").maxConnections(2));
    PeerAddress address = Transports.address("small", small);
    RdmaTransport first = open("reader 1");
    RdmaTransport third = open("reader 3");
    Transports.connect(first, address);
    Transports.connect(open("reader 2"), address);
    assertContains("BUDGET", connectFails(third, address));
    assertEquals(1, small.counters().connectsRefused().get("BUDGET"));
    first.disconnect("small");
    Transports.connectEventually(third, address);
  }

  /** Who took it may have vanished; who is still there loses no more than a READ under way. */
  @Test
  void shouldCloseWhatIsHeldLongestWhenTheBudgetIsReached() throws Exception {
    Iwarp.assumeAbsent("rdma_create_qp failed here on siw, see docs/soft-roce.md");
    Duration held = Duration.ofMillis(500);
    RdmaTransport small = open(Transports.config("small").maxConnections(2).idleTimeout(held));
    PeerAddress address = Transports.address("small", small);
    MemoryRegion region = patternRegion(small, 4096);
    RdmaTransport first = open("reader 1");
    RdmaTransport second = open("reader 2");
    PeerConnection oldest = Transports.connect(first, address);
    Thread.sleep(50);
    PeerConnection younger = Transports.connect(second, address);
    Thread.sleep(held);
    RdmaTransport third = open("reader 3");
    PeerConnection newest = Transports.connect(third, address);
    assertReads(third, newest, region, 0, 4096);
    assertReads(second, younger, region, 0, 4096);
    Transports.await("the oldest is told", () -> !oldest.isOpen());
    assertEquals(2, small.counters().queuePairs());
    assertEquals(Map.of(), small.counters().connectsRefused());

    assertReads(first, Transports.connect(first, address), region, 0, 4096);
    Transports.await("the next oldest is told", () -> !younger.isOpen());
    assertTrue(newest.isOpen());
  }

  @Test
  void shouldRefuseAPeerOfAnotherApplication() {
    RdmaTransport server = open("server");
    TransportConfig another = Transports.config("stranger").applicationToken("another".getBytes());
    String message = connectFails(open(another), Transports.address("server", server));
    assertContains("APPLICATION", message);
    assertEquals(1, server.counters().connectsRefused().get("APPLICATION"));
    assertEquals(0, server.counters().queuePairs());
  }

  @Test
  void shouldRefuseWhenAnotherProcessHasTakenTheAddress() {
    InetSocketAddress taken = open("server").info().address();
    PeerAddress stale = new PeerAddress("an executor of before", taken, 1);
    assertContains("WRONG_PEER", connectFails(open("reader"), stale));
  }

  @Test
  void shouldFailWithinTheConnectTimeoutWhenNobodyAnswers() throws Exception {
    StandInFaults.assumePresent();
    PeerAddress address = Transports.address("server", open("server"));
    RdmaTransport reader = open(Transports.config("reader").connectTimeout(Duration.ofMillis(500)));
    StandInFaults.set("cm silent");
    assertContains("no answer within 500 ms", connectFails(reader, address));
    StandInFaults.set("");
    Transports.connectEventually(reader, address);
  }

  @Test
  void shouldTryAPeerAgainOnlyAfterTheBackOff() throws Exception {
    RdmaTransport reader = open(Transports.config("reader").retryBackoff(Duration.ofSeconds(3)));
    RdmaTransport gone = open("server");
    PeerAddress address = Transports.address("server", gone);
    gone.close();
    assertContains(Iwarp.present() ? "ECONNREFUSED" : "REJECTED", connectFails(reader, address));
    assertContains("next attempt in", connectFails(reader, address));
    assertEquals(0, reader.counters().queuePairs());
    int port = address.address().getPort();
    RdmaTransport server = open(Transports.config("server").listenPort(port));
    PeerAddress fresh = Transports.address("server", server);
    assertEquals(address.address(), fresh.address());
    Transports.connectEventually(reader, fresh);
    Transports.await("accepted", () -> server.counters().connectsAccepted() == 1);
  }

  @Test
  void shouldReplaceTheQueuePairOfAPeerThatCameBackWithoutAWord() throws Exception {
    RdmaTransport server = open("server");
    MemoryRegion region = patternRegion(server, 4096);
    PeerAddress address = Transports.address("server", server);
    PeerConnection old = Transports.connect(open("reader"), address);
    RdmaTransport successor = open("reader");
    PeerConnection fresh = Transports.connect(successor, address);
    Transports.await("the old connection is closed", () -> !old.isOpen());
    assertEquals(1, server.counters().queuePairs());
    assertReads(successor, fresh, region, 0, 4096);
  }

  @Test
  void shouldNameWhatTheConnectionManagerReported() throws Exception {
    StandInFaults.assumePresent();
    RdmaTransport server = open("server");
    RdmaTransport reader = open(Transports.config("reader").retryBackoff(Duration.ZERO));
    PeerAddress address = Transports.address("server", server);
    Map<String, String> events =
        Map.of(
            "cm reject", "REJECTED",
            "cm unreachable", "UNREACHABLE",
            "cm addr_error", "ADDR_ERROR",
            "cm route_error", "ROUTE_ERROR",
            "create_qp errno=ENOMEM", "ENOMEM",
            "resolve_addr errno=EADDRNOTAVAIL", "EADDRNOTAVAIL",
            "connect errno=EINVAL", "EINVAL");
    for (String fault : events.keySet()) {
      StandInFaults.set(fault);
      assertContains(events.get(fault), connectFails(reader, address));
      assertEquals(0, reader.counters().queuePairs(), fault);
    }
  }

  @Test
  void shouldRefuseWithAReasonWhenAcceptingFails() throws Exception {
    StandInFaults.assumePresent();
    RdmaTransport server = open("server");
    RdmaTransport reader = open("reader");
    StandInFaults.set("accept errno=ENOMEM");
    assertContains("ERROR", connectFails(reader, Transports.address("server", server)));
    assertEquals(Map.of("ERROR", 1L), server.counters().connectsRefused());
    Transports.await("the queue pair is gone", () -> server.counters().queuePairs() == 0);
  }

  @Test
  void shouldFailToConnectWhenNobodyHasTheAddress() throws Exception {
    Iwarp.assumeAbsent("siw's rdma_connect returns when TCP has given up, after two minutes");
    RdmaTransport reader = open(Transports.config("reader").connectTimeout(Duration.ofSeconds(5)));
    byte[] ip = reader.info().address().getAddress().getAddress();
    ip[ip.length - 1] ^= 0x55;
    PeerAddress nobody =
        new PeerAddress(
            "nobody", new InetSocketAddress(java.net.InetAddress.getByAddress(ip), 4711), 1);
    connectFails(reader, nobody);
    assertEquals(0, reader.counters().queuePairs());
  }
}
