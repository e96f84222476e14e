package dev.verbatim.it.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.verbatim.it.transport.PortControl.StandInFaults;
import dev.verbatim.transport.MemoryRegion;
import dev.verbatim.transport.PeerAddress;
import dev.verbatim.transport.PeerConnection;
import dev.verbatim.transport.RdmaTransport;
import dev.verbatim.transport.ReadFailure;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** READs from peers that die, are silent, are many. */
class PeerDeviceTest extends DeviceTest {
  private static final long REGION = 1 << 20;

  @Test
  void shouldFailEveryBatchOnceWhenThePeerIsKilledWhileItIsRead() throws Exception {
    Set<ReadFailure.Kind> allowed =
        EnumSet.of(
            ReadFailure.Kind.REMOTE_ACCESS,
            ReadFailure.Kind.PEER_UNREACHABLE,
            ReadFailure.Kind.DISCONNECTED);
    RdmaTransport reader = open("reader");
    RegionServer.Child first = killedAfterwards(RegionServer.Child.start("server", REGION));
    RegionServer.Served region = first.served();
    PeerConnection connection = Transports.connect(reader, region.peer());
    assertReads(reader, connection, region, 0, REGION);

    List<Outcome> outcomes = new ArrayList<>();
    Thread killer = null;
    // As many as take longer than this thread may be kept waiting: some must be under way when the
    // peer dies.
    int underWay = 64;
    for (int i = 0; connection.isOpen(); i++) {
      outcomes.add(post(reader, connection, region.iova(), region.rkey(), 500_000));
      if (i == 20) {
        killer = Thread.ofPlatform().start(first.process()::destroyForcibly);
      }
      int oldestOpen = i - underWay;
      if (oldestOpen >= 0) {
        Transports.await("READ " + oldestOpen, outcomes.get(oldestOpen)::hasEnded);
      }
    }
    killer.join();
    int failed = 0;
    for (Outcome outcome : outcomes) {
      ReadFailure failure = outcome.awaitEnd();
      if (failure != null) {
        failed++;
        assertTrue(allowed.contains(failure.kind()), failure.toString());
      }
    }
    assertTrue(failed > 0, "the connection is down without a failed READ");
    connectFails(reader, region.peer());

    // Another process takes the name over, at another port.
    RegionServer.Child second = killedAfterwards(RegionServer.Child.start("server", REGION));
    PeerConnection again = Transports.connectEventually(reader, second.served().peer());
    assertReads(reader, again, second.served(), 0, REGION);
  }

  @Test
  void shouldReadFromManyPeersAtATime() throws Exception {
    RdmaTransport reader = open("reader");
    int peers = 12;
    List<MemoryRegion> regions = new ArrayList<>();
    List<CompletableFuture<PeerConnection>> connections = new ArrayList<>();
    for (int i = 0; i < peers; i++) {
      RdmaTransport server =
          open(Transports.config("server" + i).poolBytes(1 << 20).slabBytes(1 << 20));
      regions.add(patternRegion(server, 100_000));
      connections.add(reader.connect(Transports.address("server" + i, server)));
    }
    for (int i = 0; i < peers; i++) {
      PeerConnection connection = connections.get(i).get(60, TimeUnit.SECONDS);
      assertReads(reader, connection, regions.get(i), 0, 100_000);
      assertReads(reader, connection, regions.get((i)), i, 50_000);
    }
    assertEquals(peers, reader.counters().queuePairs());
  }

  @Test
  void shouldWaitForTheBackOffWhenAPeerWasSilent() throws Exception {
    StandInFaults.assumePresent();
    RdmaTransport server = open("server");
    RdmaTransport reader = open(Transports.config("reader").readTimeout(Duration.ofMillis(300)));
    MemoryRegion region = patternRegion(server, 4096);
    PeerAddress address = Transports.address("server", server);
    PeerConnection connection = Transports.connect(reader, address);
    assertReads(reader, connection, region, 0, 4096);
    StandInFaults.set("read drop nth=1");
    Outcome late = post(reader, connection, region.iova(), region.rkey(), 100);
    Outcome behind = post(reader, connection, region.iova(), region.rkey(), 200);
    late.assertFailed(ReadFailure.Kind.DEADLINE);
    Set<ReadFailure.Kind> either =
        EnumSet.of(ReadFailure.Kind.DEADLINE, ReadFailure.Kind.DISCONNECTED);
    assertTrue(either.contains(behind.assertFailed().kind()));
    assertTrue(reader.counters().readFailures().get("DEADLINE") >= 1);
    assertFalse(connection.isOpen());
    assertContains("next attempt in", connectFails(reader, address));
    PeerConnection again = Transports.connectEventually(reader, address);
    assertReads(reader, again, region, 0, 4096);
  }
}
