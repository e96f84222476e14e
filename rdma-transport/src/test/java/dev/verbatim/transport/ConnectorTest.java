package dev.verbatim.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.ArgumentMatchers.eq;
import static org.mockito.Mockito.doThrow;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.times;
import static org.mockito.Mockito.verify;

import dev.verbatim.verbs.AsyncEventType;
import dev.verbatim.verbs.CmEventType;
import dev.verbatim.verbs.Errno;
import dev.verbatim.verbs.IbvContext;
import dev.verbatim.verbs.PortState;
import dev.verbatim.verbs.RdmaCmId;
import dev.verbatim.verbs.VerbsConstants;
import dev.verbatim.verbs.VerbsException;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ConnectorTest {
  private static final byte[] NONE = {};

  private final TransportConfig config = new TransportConfig().trafficClass(104);
  private Fabric fabric;

  @BeforeEach
  void make() throws Exception {
    fabric = new Fabric(config);
  }

  private static String failure(CompletableFuture<?> future) {
    ExecutionException e = assertThrows(ExecutionException.class, future::get);
    return assertInstanceOf(ConnectException.class, e.getCause()).getMessage();
  }

  @Test
  void shouldConnectByAddressRouteAndProof() throws Exception {
    PeerConnection connection = fabric.connected();
    assertNotNull(connection);
    assertTrue(connection.isOpen());
    assertEquals(56, fabric.request.length);
    assertSame(connection, fabric.connector.connect(Fabric.PEER).getNow(null));
    assertEquals(1, fabric.ids.size());
    verify(fabric.rdmaCm)
        .setOption(
            any(),
            eq(VerbsConstants.RDMA_OPTION_ID),
            eq(VerbsConstants.RDMA_OPTION_ID_TOS),
            any(),
            eq(1L));
    verify(fabric.rdmaCm)
        .setOption(
            any(),
            eq(VerbsConstants.RDMA_OPTION_ID),
            eq(VerbsConstants.RDMA_OPTION_ID_ACK_TIMEOUT),
            any(),
            eq(1L));
  }

  @Test
  void shouldConnectWhenTheSystemKnowsNoSuchOption() throws Exception {
    doThrow(new VerbsException("rdma_set_option", Errno.ENOSYS, ""))
        .when(fabric.rdmaCm)
        .setOption(any(), anyInt(), anyInt(), any(), anyLong());
    assertNotNull(fabric.connected());
  }

  /** At each step an event that ends the attempt leaves nothing behind and starts the back-off. */
  @ParameterizedTest
  @EnumSource(
      names = {
        "ADDR_ERROR",
        "ROUTE_ERROR",
        "CONNECT_ERROR",
        "UNREACHABLE",
        "REJECTED",
        "DISCONNECTED",
        "ADDR_CHANGE"
      })
  void shouldFailForEveryEventThatEndsAnAttempt(CmEventType type) throws Exception {
    for (int steps = 0; steps < 3; steps++) {
      make();
      CompletableFuture<PeerConnection> future = fabric.connector.connect(Fabric.PEER);
      fabric.step();
      MemorySegment id = fabric.ids.getFirst();
      CmEventType[] before = {CmEventType.ADDR_RESOLVED, CmEventType.ROUTE_RESOLVED};
      for (int i = 0; i < steps; i++) {
        fabric.cmEvent(before[i], id, 0, NONE);
        fabric.step();
      }
      fabric.cmEvent(type, id, -Errno.ETIMEDOUT, NONE);
      fabric.step();
      String message = failure(future);
      assertTrue(message.contains(type.name()), message);
      assertEquals(1, fabric.counters.connectsFailed.sum());
      fabric.assertNothingHeld();
      assertTrue(failure(fabric.connector.connect(Fabric.PEER)).contains("next attempt in"));
    }
  }

  @Test
  void shouldSayWhyThePeerRefused() throws Exception {
    CompletableFuture<PeerConnection> future = fabric.connector.connect(Fabric.PEER);
    fabric.step();
    fabric.cmEvent(
        CmEventType.REJECTED, fabric.ids.getFirst(), 28, Handshake.refuse(Refusal.BUDGET));
    fabric.step();
    assertTrue(failure(future).contains("BUDGET"));
  }

  @Test
  void shouldGiveUpAtTheDeadlineAndIgnoreLateEvents() throws Exception {
    config.connectTimeout(Duration.ofMillis(200));
    make();
    CompletableFuture<PeerConnection> future = fabric.connector.connect(Fabric.PEER);
    fabric.step();
    assertFalse(future.isDone());
    Thread.sleep(250);
    fabric.step();
    assertTrue(failure(future).contains("no answer within 200 ms"));
    fabric.assertNothingHeld();
    fabric.cmEvent(CmEventType.ADDR_RESOLVED, fabric.ids.getFirst(), 0, NONE);
    fabric.cmEvent(CmEventType.TIMEWAIT_EXIT, fabric.ids.getFirst(), 0, NONE);
    fabric.step();
    verify(fabric.rdmaCm, times(0)).resolveRoute(any(), anyInt());
    verify(fabric.rdmaCm, times(2)).ackCmEvent(any());
  }

  @Test
  void shouldDistrustAPeerThatDoesNotProveItself() throws Exception {
    CompletableFuture<PeerConnection> future = fabric.connector.connect(Fabric.PEER);
    fabric.step();
    MemorySegment id = fabric.ids.getFirst();
    fabric.cmEvent(CmEventType.ADDR_RESOLVED, id, 0, NONE);
    fabric.cmEvent(CmEventType.ROUTE_RESOLVED, id, 0, NONE);
    fabric.cmEvent(CmEventType.ESTABLISHED, id, 0, new byte[196]);
    fabric.step();
    assertTrue(failure(future).contains("does not prove"));
    fabric.assertNothingHeld();
  }

  @Test
  void shouldNotLeaveByAnotherDevice() throws Exception {
    CompletableFuture<PeerConnection> future = fabric.connector.connect(Fabric.PEER);
    fabric.step();
    MemorySegment id = fabric.ids.getFirst();
    RdmaCmId.VERBS.set(id, IbvContext.STRUCT.allocate(fabric.arena));
    fabric.cmEvent(CmEventType.ADDR_RESOLVED, id, 0, NONE);
    fabric.step();
    assertTrue(failure(future).contains("device in use"));
    fabric.assertNothingHeld();
  }

  @Test
  void shouldFailWhenAQueuePairCannotBeMade() throws Exception {
    doThrow(new VerbsException("rdma_create_qp", Errno.ENOMEM, ""))
        .when(fabric.rdmaCm)
        .createQp(any(), any(), any());
    CompletableFuture<PeerConnection> future = fabric.connector.connect(Fabric.PEER);
    fabric.step();
    fabric.cmEvent(CmEventType.ADDR_RESOLVED, fabric.ids.getFirst(), 0, NONE);
    fabric.cmEvent(CmEventType.ROUTE_RESOLVED, fabric.ids.getFirst(), 0, NONE);
    fabric.step();
    assertTrue(failure(future).contains("ENOMEM"));
    fabric.assertNothingHeld();
  }

  @Test
  void shouldFailTheConnectionWhenThePeerDisconnects() throws Exception {
    PeerConnection connection = fabric.connected();
    fabric.cmEvent(CmEventType.DISCONNECTED, fabric.ids.getFirst(), 0, NONE);
    fabric.step();
    assertFalse(connection.isOpen());
    fabric.step();
    fabric.assertNothingHeld();
  }

  @Test
  void shouldFailAllAndRefuseNewOnesWhenTheDeviceIsRemoved() throws Exception {
    PeerConnection connection = fabric.connected();
    fabric.cmEvent(CmEventType.DEVICE_REMOVAL, fabric.ids.getFirst(), 0, NONE);
    fabric.step();
    fabric.step();
    assertFalse(connection.isOpen());
    fabric.assertNothingHeld();
    fabric.asyncEvent(AsyncEventType.PORT_ACTIVE, 1);
    fabric.step();
    assertFalse(fabric.monitor.isActive());
    assertTrue(failure(fabric.connector.connect(Fabric.PEER)).contains("port is not active"));
  }

  @Test
  void shouldCloseConnectionsWhenThePortGoesDownAndComeBackWithIt() throws Exception {
    PeerConnection connection = fabric.connected();
    fabric.asyncEvent(AsyncEventType.PORT_ERR, 2); // another port of the device
    fabric.step();
    assertTrue(connection.isOpen());
    fabric.asyncEvent(AsyncEventType.PORT_ERR, 1);
    fabric.step();
    fabric.step();
    assertFalse(connection.isOpen());
    assertEquals(1, fabric.destroyedQueuePairs.size(), "buffers are free at once");
    assertEquals(0, fabric.destroyedIds.size(), "nothing is sent on a link that is down");
    assertTrue(failure(fabric.connector.connect(Fabric.PEER)).contains("port is not active"));
    fabric.asyncEvent(AsyncEventType.PORT_ACTIVE, 1);
    fabric.step();
    assertEquals(1, fabric.destroyedIds.size());
    CompletableFuture<PeerConnection> again = fabric.connector.connect(Fabric.PEER);
    fabric.step();
    fabric.establish(fabric.ids.getLast());
    assertTrue(again.getNow(null).isOpen());
  }

  @Test
  void shouldSendNothingWhenAReadFailsBeforeTheEventOfThePortComes() throws Exception {
    PeerConnection connection = fabric.connected();
    fabric.portState = PortState.DOWN;
    connection.fail(new ReadFailure(ReadFailure.Kind.OTHER, "no route"));
    fabric.step();
    fabric.step();
    verify(fabric.rdmaCm, never()).disconnect(any());
    assertEquals(1, fabric.destroyedQueuePairs.size());
    assertEquals(0, fabric.destroyedIds.size());
    fabric.asyncEvent(AsyncEventType.PORT_ERR, 1);
    fabric.step();
    fabric.portState = PortState.ACTIVE;
    fabric.asyncEvent(AsyncEventType.PORT_ACTIVE, 1);
    fabric.step();
    assertEquals(1, fabric.destroyedIds.size());
  }

  @Test
  void shouldTellAddressChangesApart() throws Exception {
    fabric.asyncEvent(AsyncEventType.GID_CHANGE, 1);
    fabric.asyncEvent(AsyncEventType.GID_CHANGE, 2);
    fabric.step();
    assertEquals(java.util.List.of("address"), fabric.actions);
    assertEquals(1L, fabric.counters.snapshot(0, 0, 0, 0).asyncEvents().get("GID_CHANGE"));
  }

  @Test
  void shouldWaitForAllQueuePairsOfAConnection() throws Exception {
    config.qpsPerPeer(3);
    make();
    CompletableFuture<PeerConnection> future = fabric.connector.connect(Fabric.PEER);
    fabric.step();
    assertEquals(3, fabric.ids.size());
    fabric.establish(fabric.ids.get(0));
    fabric.establish(fabric.ids.get(1));
    assertNull(future.getNow(null));
    fabric.cmEvent(CmEventType.REJECTED, fabric.ids.get(2), 28, NONE);
    fabric.step();
    failure(future);
    fabric.assertNothingHeld();
  }

  @Test
  void shouldRefuseWhenTheBudgetIsReached() throws Exception {
    config.maxConnections(1);
    make();
    assertNotNull(fabric.connected());
    CompletableFuture<PeerConnection> second =
        fabric.connector.connect(new PeerAddress("other", Fabric.PEER.address(), 1));
    fabric.step();
    assertTrue(failure(second).contains("as many queue pairs as it may"));
  }

  @Test
  void shouldConnectAnewWhenThePeerHasMoved() throws Exception {
    PeerConnection old = fabric.connected();
    PeerAddress moved =
        new PeerAddress(
            Fabric.PEER.name(),
            new java.net.InetSocketAddress("10.77.0.3", 4001),
            Fabric.PEER.challenge());
    CompletableFuture<PeerConnection> future = fabric.connector.connect(moved);
    fabric.step();
    assertFalse(old.isOpen());
    fabric.establish(fabric.ids.getLast());
    assertEquals(moved, future.getNow(null).peer());
    assertEquals(2, fabric.counters.connectsInitiated.sum());
    assertEquals(1, fabric.counters.reconnects.sum());
  }

  @Test
  void shouldChooseAnAckTimeoutThatLetsRetriesFitIntoTheReadTimeout() {
    assertEquals(17, ConnectAttempt.ackTimeoutExponent(Duration.ofSeconds(10).toNanos()));
    assertEquals(12, ConnectAttempt.ackTimeoutExponent(1));
    assertEquals(20, ConnectAttempt.ackTimeoutExponent(Duration.ofHours(1).toNanos()));
  }
}
