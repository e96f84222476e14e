package dev.verbatim.it.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.verbatim.it.transport.PortControl.StandInFaults;
import dev.verbatim.transport.EndpointBuffer;
import dev.verbatim.transport.EndpointConfig;
import dev.verbatim.transport.EndpointGroup;
import dev.verbatim.transport.MemoryRegion;
import dev.verbatim.transport.PeerAddress;
import dev.verbatim.transport.PeerConnection;
import dev.verbatim.transport.RdmaTransport;
import dev.verbatim.transport.ReadFailure;
import dev.verbatim.transport.WorkOperation;
import dev.verbatim.verbs.WcStatus;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The port goes down and comes up, with and without READs under way. */
class PortDeviceTest extends DeviceTest {
  private static final long REGION = 1 << 20;

  @Test
  void shouldFailWhatIsUnderWayWhenThePortGoesDownAndReadAgainWhenItIsUp() throws Exception {
    PortControl.assumePossible();
    RdmaTransport server = open("server");
    RdmaTransport reader = open("reader");
    MemoryRegion region = patternRegion(server, REGION);
    PeerAddress address = Transports.address("server", server);
    List<Boolean> told = new CopyOnWriteArrayList<>();
    reader.onPortChange(told::add);
    for (int round = 0; round < 2; round++) {
      PeerConnection connection = Transports.connectEventually(reader, address);
      assertReads(reader, connection, region, 0, REGION);
      List<Outcome> outcomes = readUntilThePortIsDown(reader, connection, region);
      Transports.await("the reader knows", () -> !reader.portActive());
      Transports.await("the server knows", () -> !server.portActive());
      Outcome late = post(reader, connection, region.iova(), region.rkey(), 1);
      late.assertFailed();
      outcomes.add(late);
      assertFailures(outcomes);
      ExecutionException refused =
          assertThrows(
              ExecutionException.class, () -> reader.connect(address).get(1, TimeUnit.SECONDS));
      assertTrue(refused.getMessage().contains("not active"), refused.getMessage());

      PortControl.up();
      Transports.await("the reader knows", reader::portActive);
      Transports.await("the server knows", server::portActive);
    }
    PeerConnection again = Transports.connectEventually(reader, address);
    assertReads(reader, again, region, 0, REGION);
    assertEquals(List.of(false, true, false, true), told);
    assertEquals(2, reader.counters().asyncEvents().get("PORT_ERR"));
    assertEquals(2, reader.counters().asyncEvents().get("PORT_ACTIVE"));
  }

  @Test
  void shouldEndEndpointsWhenThePortGoesDownAndConnectAgainWhenItIsUp() throws Exception {
    PortControl.assumePossible();
    RdmaTransport near = open("near");
    EndpointGroup nearGroup = near.openGroup(new EndpointConfig());
    EndpointGroup farGroup = open("far").openGroup(new EndpointConfig());
    EndpointBuffer own = nearGroup.allocate(8);
    EndpointPair idle = EndpointPair.connect(nearGroup, farGroup);
    idle.near().send(3, own.all()); // nobody receives
    PortControl.down();
    idle.nearSays().failed(3, WcStatus.WR_FLUSH_ERR, WcStatus.RETRY_EXC_ERR);
    idle.nearSays().closed();
    idle.farSays().closed();
    Transports.await("it knows", () -> !near.portActive());
    ExecutionException refused =
        assertThrows(ExecutionException.class, () -> EndpointPair.connect(nearGroup, farGroup));
    assertTrue(refused.getMessage().contains("not active"), refused.getMessage());
    PortControl.up();
    Transports.await("it knows", near::portActive);
    EndpointPair again =
        EndpointPair.connect(nearGroup, farGroup, far -> EndpointPair.receive(far, 4));
    again.near().send(5);
    again.nearSays().succeeded(5, WorkOperation.SEND);
    again.farSays().succeeded(4, WorkOperation.RECEIVE);
  }

  private static List<Outcome> readUntilThePortIsDown(
      RdmaTransport reader, PeerConnection connection, MemoryRegion region) throws Exception {
    List<Outcome> outcomes = new ArrayList<>();
    Thread puller = null;
    for (int i = 0; connection.isOpen(); i++) {
      outcomes.add(post(reader, connection, region.iova(), region.rkey(), 200_000));
      if (i == 20) {
        puller = Thread.ofPlatform().start(PortDeviceTest::portDown);
      }
      int oldestOpen = i - 8;
      if (oldestOpen >= 0) {
        Transports.await("READ " + oldestOpen, outcomes.get(oldestOpen)::hasEnded);
      }
    }
    puller.join();
    return outcomes;
  }

  private static void portDown() {
    try {
      PortControl.down();
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  /** Each was told once, and if it failed, that it is for the connection. */
  private static void assertFailures(List<Outcome> outcomes) throws Exception {
    for (Outcome outcome : outcomes) {
      ReadFailure failure = outcome.awaitEnd();
      assertTrue(
          failure == null
              || failure.kind() == ReadFailure.Kind.LOCAL_PORT
              || failure.kind() == ReadFailure.Kind.PEER_UNREACHABLE
              || failure.kind() == ReadFailure.Kind.DISCONNECTED,
          () -> failure.toString());
    }
  }

  @Test
  void shouldCloseCleanlyWhileThePortIsDown() throws Exception {
    // Soft-RoCE connects no more, whoever asks, after a connection was given up on a link that is
    // down, as it is by the kernel too when a process ends; only making its device anew helps.
    StandInFaults.assumePresent();
    RdmaTransport server = open("server");
    RdmaTransport reader = open("reader");
    PeerConnection connection = Transports.connect(reader, Transports.address("server", server));
    PortControl.down();
    try {
      Transports.await("the connection is down", () -> !connection.isOpen());
      reader.close();
      server.close();
    } finally {
      PortControl.up();
    }
    Transports.assertNothingLeft(reader);
    Transports.assertNothingLeft(server);
  }

  @Test
  void shouldUseTheDeviceNoMoreWhenItFailed() throws Exception {
    StandInFaults.assumePresent();
    RdmaTransport server = open("server");
    RdmaTransport reader = open("reader");
    MemoryRegion region = patternRegion(server, REGION);
    PeerAddress address = Transports.address("server", server);
    PeerConnection connection = Transports.connect(reader, address);
    StandInFaults.set("read drop\ndevice_fatal");
    Outcome outcome = post(reader, connection, region.iova(), region.rkey(), 100);
    outcome.assertFailed();
    Transports.await("the reader knows", () -> !reader.portActive());
    StandInFaults.set("port up");
    assertThrows(ExecutionException.class, () -> reader.connect(address).get(1, TimeUnit.SECONDS));
    assertFalse(reader.portActive());
  }

  @Test
  void shouldReadOnWhenOnlyTheAddressesChanged() throws Exception {
    StandInFaults.assumePresent();
    RdmaTransport server = open("server");
    RdmaTransport reader = open("reader");
    MemoryRegion region = patternRegion(server, 4096);
    PeerConnection connection = Transports.connect(reader, Transports.address("server", server));
    StandInFaults.set("gid_change");
    Transports.await(
        "the event is seen", () -> reader.counters().asyncEvents().containsKey("GID_CHANGE"));
    assertReads(reader, connection, region, 0, 4096);
  }

  @Test
  void shouldConnectAgainWhenAllConnectionsWereDropped() throws Exception {
    StandInFaults.assumePresent();
    RdmaTransport server = open("server");
    RdmaTransport reader = open("reader");
    MemoryRegion region = patternRegion(server, 4096);
    PeerAddress address = Transports.address("server", server);
    PeerConnection connection = Transports.connect(reader, address);
    StandInFaults.set("disconnect");
    Transports.await("the connection is down", () -> !connection.isOpen());
    PeerConnection again = Transports.connectEventually(reader, address);
    assertReads(reader, again, region, 0, 4096);
    assertNull(reader.counters().readFailures().get("DEADLINE"));
  }
}
