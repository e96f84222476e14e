package dev.verbatim.it.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.verbatim.transport.ConnectException;
import dev.verbatim.transport.MemoryRegion;
import dev.verbatim.transport.PeerAddress;
import dev.verbatim.transport.PeerConnection;
import dev.verbatim.transport.RdmaTransport;
import dev.verbatim.transport.ReadBatch;
import dev.verbatim.transport.ReadBuffer;
import dev.verbatim.transport.ReadFailure;
import dev.verbatim.transport.TransportConfig;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What happens between two transports when something goes wrong. */
@Tag("device")
@Tag("guest")
class FaultDeviceTest {
  private static final int REGION = 1 << 20;

  private RdmaTransport server;
  private MemoryRegion region;
  private PeerAddress serverAddress;
  private final List<RdmaTransport> others = new ArrayList<>();

  @BeforeEach
  void open() throws Exception {
    server = Transports.open(Transports.config("server"));
    serverAddress = Transports.address("server", server);
    region = server.allocate(REGION);
    Pattern.fill(region.segment());
  }

  @AfterEach
  void close() {
    for (RdmaTransport transport : others) {
      transport.close();
      Transports.assertNothingLeft(transport);
    }
    server.close();
    Transports.assertNothingLeft(server);
    List<String> left =
        Thread.getAllStackTraces().keySet().stream()
            .map(Thread::getName)
            .filter(name -> name.startsWith("verbatim-"))
            .toList();
    assertEquals(List.of(), left, "threads left");
  }

  private RdmaTransport reader(TransportConfig config) {
    RdmaTransport transport = Transports.open(config);
    others.add(transport);
    return transport;
  }

  private RdmaTransport reader(String name) {
    return reader(Transports.config(name));
  }

  private static Outcome read(
      RdmaTransport reader, PeerConnection connection, RegionServer.Served from, long length) {
    ReadBuffer buffer = reader.tryAcquire(length).orElseThrow();
    Outcome outcome =
        new Outcome() {
          @Override
          public void onSuccess() {
            Pattern.assertEqualTo(buffer.segment(), 0);
            super.onSuccess();
          }
        };
    connection.read(new ReadBatch(outcome).add(from.iova(), from.rkey(), buffer, 0, length));
    buffer.release(); // the batch holds a reference of its own until it has ended
    return outcome;
  }

  private RegionServer.Served served() {
    return RegionServer.serve("server", server, region);
  }

  private static ConnectException connectFails(RdmaTransport reader, PeerAddress to) {
    ExecutionException e =
        assertThrows(ExecutionException.class, () -> Transports.connect(reader, to));
    return assertInstanceOf(ConnectException.class, e.getCause());
  }

  @Test
  void shouldFailReadsAndConnectAgainWhenAPeerIsKilled() throws Exception {
    RdmaTransport reader = reader("reader");
    PeerAddress gone;
    try (RegionServer.Child child = RegionServer.Child.start("child", REGION)) {
      gone = child.served().peer();
      PeerConnection connection = Transports.connect(reader, gone);
      read(reader, connection, child.served(), REGION).assertSucceeded();
      child.kill();
      ReadFailure failure = null;
      // Until the kernel has taken the peer apart a READ may still succeed.
      for (int i = 0; i < 100 && failure == null; i++) {
        Outcome outcome = read(reader, connection, child.served(), 4096);
        Transports.await("the end of a READ", outcome::hasEnded);
        failure = outcome.failure();
      }
      assertTrue(
          EnumSet.of(
                  ReadFailure.Kind.REMOTE_ACCESS,
                  ReadFailure.Kind.PEER_UNREACHABLE,
                  ReadFailure.Kind.DISCONNECTED)
              .contains(failure.kind()),
          failure.toString());
      assertFalse(connection.isOpen());
    }
    connectFails(reader, gone);
    // Another process takes the name over, at another port.
    try (RegionServer.Child child = RegionServer.Child.start("child", REGION)) {
      PeerConnection connection = Transports.connectEventually(reader, child.served().peer());
      read(reader, connection, child.served(), REGION).assertSucceeded();
    }
  }

  @Test
  void shouldStopAndResumeWhenThePortGoesDownAndUp() throws Exception {
    PortControl.assumePossible();
    RdmaTransport reader = reader("reader");
    List<Boolean> changes = java.util.Collections.synchronizedList(new ArrayList<>());
    reader.onPortChange(changes::add);
    for (int round = 1; round <= 2; round++) {
      PeerConnection connection = Transports.connectEventually(reader, serverAddress);
      read(reader, connection, served(), REGION).assertSucceeded();
      PortControl.down();
      try {
        Transports.await("port down", () -> !reader.portActive() && !server.portActive());
        Transports.await("connection down", () -> !connection.isOpen());
        ReadFailure failure = read(reader, connection, served(), 1).assertFailed();
        assertTrue(
            EnumSet.of(
                    ReadFailure.Kind.LOCAL_PORT,
                    ReadFailure.Kind.PEER_UNREACHABLE,
                    ReadFailure.Kind.DISCONNECTED)
                .contains(failure.kind()),
            failure.toString());
        long start = System.nanoTime();
        ConnectException refused = connectFails(reader, serverAddress);
        assertTrue(refused.getMessage().contains("port is not active"), refused.getMessage());
        assertTrue(System.nanoTime() - start < Duration.ofSeconds(5).toNanos(), "at once");
      } finally {
        PortControl.up();
      }
      Transports.await("port up", () -> reader.portActive() && server.portActive());
      PeerConnection again = Transports.connectEventually(reader, serverAddress);
      read(reader, again, served(), REGION).assertSucceeded();
      assertEquals(round, reader.counters().asyncEvents().get("PORT_ACTIVE"));
    }
    assertEquals(List.of(false, true, false, true), changes);
  }

  @Test
  void shouldRefuseAPeerOfAnotherApplication() {
    RdmaTransport stranger =
        reader(Transports.config("stranger").applicationToken("another".getBytes()));
    ConnectException refused = connectFails(stranger, serverAddress);
    assertTrue(refused.getMessage().contains("APPLICATION"), refused.getMessage());
    assertEquals(1, server.counters().connectsRefused().get("APPLICATION"));
    assertEquals(0, server.counters().queuePairs());
  }

  @Test
  void shouldRefuseWhenAnotherProcessHasTakenTheAddress() {
    RdmaTransport reader = reader("reader");
    PeerAddress stale = new PeerAddress("an executor of before", serverAddress.address(), 1);
    ConnectException refused = connectFails(reader, stale);
    assertTrue(refused.getMessage().contains("WRONG_PEER"), refused.getMessage());
  }

  @Test
  void shouldFailFastWhenNobodyListensAndBackOff() {
    RdmaTransport reader = reader(Transports.config("reader").retryBackoff(Duration.ofMinutes(1)));
    PeerAddress nobody =
        new PeerAddress(
            "nobody", new InetSocketAddress(serverAddress.address().getAddress(), 1), 1);
    ConnectException first = connectFails(reader, nobody);
    assertTrue(first.getMessage().contains("REJECTED"), first.getMessage());
    ConnectException second = connectFails(reader, nobody);
    assertTrue(second.getMessage().contains("next attempt in"), second.getMessage());
    assertEquals(0, reader.counters().queuePairs());
  }

  @Test
  void shouldShareOneConnectionAmongAllWhoAsk() throws Exception {
    RdmaTransport reader = reader("reader");
    var first = reader.connect(serverAddress);
    var second = reader.connect(serverAddress);
    assertSame(first.get(), second.get());
    assertSame(first.get(), Transports.connect(reader, serverAddress));
    assertEquals(1, reader.counters().connectsInitiated());
    assertEquals(1, reader.counters().queuePairs());
  }

  @Test
  void shouldStripeALargeReadOverSeveralQueuePairs() throws Exception {
    RdmaTransport reader = reader(Transports.config("reader").qpsPerPeer(4));
    PeerConnection connection = Transports.connect(reader, serverAddress);
    assertEquals(4, reader.counters().queuePairs());
    read(reader, connection, served(), REGION).assertSucceeded();
    assertEquals(4, reader.counters().readsCompleted());
    reader.disconnect("server");
    Transports.await("all queue pairs gone", () -> reader.counters().queuePairs() == 0);
    Transports.await("the server's too", () -> server.counters().queuePairs() == 0);
  }

  @Test
  void shouldServeManyReadersAndForgetThoseThatGo() throws Exception {
    int count = 16;
    List<Outcome> outcomes = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      RdmaTransport reader = reader(Transports.config("reader " + i).poolBytes(4 << 20));
      PeerConnection connection = Transports.connect(reader, serverAddress);
      outcomes.add(read(reader, connection, served(), 100_000));
    }
    for (Outcome outcome : outcomes) {
      outcome.assertSucceeded();
    }
    assertEquals(count, server.counters().queuePairs());
    others.forEach(RdmaTransport::close);
    Transports.await("the server has none", () -> server.counters().queuePairs() == 0);
    assertEquals(count, server.counters().connectsAccepted());
  }

  @Test
  void shouldRefuseWhenTheBudgetOfQueuePairsIsReached() throws Exception {
    RdmaTransport small = reader(Transports.config("small").maxConnections(2));
    PeerAddress address = Transports.address("small", small);
    List<RdmaTransport> readers =
        List.of(reader("reader 1"), reader("reader 2"), reader("reader 3"));
    Transports.connect(readers.get(0), address);
    Transports.connect(readers.get(1), address);
    ConnectException refused = connectFails(readers.get(2), address);
    assertTrue(refused.getMessage().contains("BUDGET"), refused.getMessage());
    assertEquals(1, small.counters().connectsRefused().get("BUDGET"));
    readers.get(0).disconnect("small");
    Transports.connectEventually(readers.get(2), address);
  }

  @Test
  void shouldCloseIdleConnectionsAndConnectAgainWhenAsked() throws Exception {
    RdmaTransport reader = reader(Transports.config("reader").idleTimeout(Duration.ofMillis(300)));
    PeerConnection connection = Transports.connect(reader, serverAddress);
    read(reader, connection, served(), 10).assertSucceeded();
    Transports.await("closed for idleness", () -> !connection.isOpen());
    Transports.await("gone here", () -> reader.counters().queuePairs() == 0);
    Transports.await("gone there", () -> server.counters().queuePairs() == 0);
    PeerConnection again = Transports.connect(reader, serverAddress);
    read(reader, again, served(), 10).assertSucceeded();
  }

  @Test
  void shouldEndReadsUnderWayWhenTheTransportCloses() throws Exception {
    RdmaTransport reader = reader("reader");
    PeerConnection connection = Transports.connect(reader, serverAddress);
    AtomicInteger ends = new AtomicInteger();
    int batches = 50;
    ReadBuffer buffer = reader.tryAcquire(REGION).orElseThrow();
    for (int i = 0; i < batches; i++) {
      connection.read(
          new ReadBatch(
                  new Outcome() {
                    @Override
                    public void onSuccess() {
                      ends.incrementAndGet();
                    }

                    @Override
                    public void onFailure(ReadFailure failure) {
                      ends.incrementAndGet();
                    }
                  })
              .add(region.iova(), region.rkey(), buffer, 0, REGION));
    }
    buffer.release();
    reader.close();
    assertEquals(batches, ends.get());
  }

  @Test
  void shouldEndAReadByItsDeadlineWhenTheDeviceNeverDoes() throws Exception {
    PortControl.StandInFaults.assumePresent();
    RdmaTransport reader = reader(Transports.config("reader").readTimeout(Duration.ofMillis(300)));
    PeerConnection connection = Transports.connect(reader, serverAddress);
    PortControl.StandInFaults.set("read drop nth=1");
    try {
      Outcome dropped = read(reader, connection, served(), 4096);
      dropped.assertFailed(ReadFailure.Kind.DEADLINE);
      assertFalse(connection.isOpen());
      assertEquals(1, reader.counters().readFailures().get("DEADLINE"));
    } finally {
      PortControl.StandInFaults.set("");
    }
    PeerConnection again = Transports.connectEventually(reader, serverAddress);
    read(reader, again, served(), REGION).assertSucceeded();
  }

  @Test
  void shouldFailWithinTheConnectTimeoutWhenNobodyAnswers() throws Exception {
    PortControl.StandInFaults.assumePresent();
    RdmaTransport reader =
        reader(Transports.config("reader").connectTimeout(Duration.ofMillis(500)));
    PortControl.StandInFaults.set("cm silent");
    try {
      ConnectException late = connectFails(reader, serverAddress);
      assertTrue(late.getMessage().contains("no answer within 500 ms"), late.getMessage());
    } finally {
      PortControl.StandInFaults.set("");
    }
    Transports.connectEventually(reader, serverAddress);
  }
}
