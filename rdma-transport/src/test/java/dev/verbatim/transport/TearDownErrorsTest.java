package dev.verbatim.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.doThrow;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.times;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import dev.verbatim.verbs.CmEventType;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Errors, memory that is used up above all, while a connection is given up: its READs must end, but
 * not before the device is done with their buffers, and nothing may be left.
 */
class TearDownErrorsTest {
  /** Not an OutOfMemoryError, which JUnit takes for its own. */
  private static final Error ERROR = new InternalError("test");

  private static final ReadFailure FAILURE = new ReadFailure(ReadFailure.Kind.DISCONNECTED, "test");
  private static final long AGAIN = PeerConnection.TEAR_DOWN_AGAIN_NANOS;
  private static final byte[] NONE = {};

  private final TransportConfig config = new TransportConfig().qpsPerPeer(2);
  private Fabric fabric;

  @BeforeEach
  void make() throws Exception {
    fabric = new Fabric(config);
  }

  @ParameterizedTest
  @ValueSource(strings = {"queryPort", "disconnect", "destroyQp", "destroyId"})
  void shouldEndReadsAndKeepNothingWhenAStepThrows(String step) throws Exception {
    PeerConnection connection = fabric.connected();
    RecordingListener listener = fabric.read(connection);
    fabric.errors.put(step, ERROR);

    connection.fail(FAILURE);
    fabric.step();
    connection.checkDeadline(System.nanoTime() + AGAIN);
    fabric.step();

    assertTrue(fabric.errors.isEmpty(), "the step was taken");
    listener.assertEnded("DISCONNECTED");
    assertEquals(0, fabric.pool.usedBytes());
    fabric.assertNothingHeld();
  }

  @Test
  void shouldTellReadsOnlyWhenTheQueuePairsAreReallyDestroyed() throws Exception {
    PeerConnection connection = fabric.connected();
    RecordingListener listener = fabric.read(connection);
    fabric.errors.put("destroyQp", ERROR);

    connection.fail(FAILURE);
    fabric.loop.doWork();
    fabric.loop.doWork();

    listener.assertPending();
    assertTrue(fabric.pool.usedBytes() > 0);
    assertEquals(2, fabric.counters.queuePairs.get());
    assertEquals(List.of(), fabric.destroyedIds);
  }

  @Test
  void shouldAskForTheEndAgainAfterAWhileUntilItIsThere() {
    PeerConnection.Owner owner = mock(PeerConnection.Owner.class);
    doThrow(ERROR).doNothing().when(owner).tearDown(any());
    PeerConnection connection =
        new PeerConnection(Fabric.PEER, owner, new SendQueue[0], new CmEndpoint[0]);

    connection.fail(FAILURE);
    long now = System.nanoTime();
    connection.checkDeadline(now + AGAIN);
    connection.checkDeadline(now + 2 * AGAIN - 1);
    verify(owner, times(2)).tearDown(connection);
    connection.checkDeadline(now + 2 * AGAIN);
    verify(owner, times(3)).tearDown(connection);

    assertTrue(connection.retired());
    connection.checkDeadline(now + 9 * AGAIN);
    verify(owner, times(3)).tearDown(connection);
    assertFalse(connection.retired(), "once");
  }

  @Test
  void shouldDoNothingTwiceWhenTheEndIsAskedForAgain() throws Exception {
    PeerConnection connection = fabric.connected();
    connection.fail(FAILURE);
    fabric.step();
    fabric.assertNothingHeld();
    fabric.table.reserve(); // the key's place is somebody else's now

    fabric.connector.tearDown(connection);
    fabric.step();

    assertEquals(1, fabric.table.inUse());
    verify(fabric.rdmaCm, times(2)).disconnect(any());
    assertEquals(2, fabric.destroyedQueuePairs.size());
    assertEquals(2, fabric.destroyedIds.size());
  }

  @Test
  void shouldEndWhenTheEventThreadHasEndedMeanwhile() throws Exception {
    PeerConnection connection = fabric.connected();
    RecordingListener listener = fabric.read(connection);
    fabric.errors.put("destroyQp", ERROR);
    connection.fail(FAILURE);
    fabric.loop.doWork();

    fabric.errors.put("destroyQp", ERROR);
    assertFalse(fabric.connector.tearDownRest());
    assertTrue(fabric.connector.tearDownRest());
    fabric.poller.doWork();

    listener.assertEnded("DISCONNECTED");
    fabric.assertNothingHeld();
  }

  @ParameterizedTest
  @ValueSource(strings = {"queryPort", "destroyQp", "destroyId"})
  void shouldFailAConnectAtOnceWhenGivingItUpThrows(String step) throws Exception {
    doThrow(ERROR).when(fabric.rdmaCm).connect(any(), any());
    CompletableFuture<PeerConnection> future = fabric.connector.connect(Fabric.PEER);
    fabric.step();
    for (MemorySegment id : List.copyOf(fabric.ids)) {
      fabric.cmEvent(CmEventType.ADDR_RESOLVED, id, 0, NONE);
      fabric.step();
    }
    fabric.errors.put(step, ERROR);
    fabric.cmEvent(CmEventType.ROUTE_RESOLVED, fabric.ids.getFirst(), 0, NONE);
    fabric.step();

    assertTrue(future.isCompletedExceptionally());
    fabric.loop.doWork();
    assertTrue(fabric.errors.isEmpty(), "the step was taken");
    fabric.assertNothingHeld();
  }

  @ParameterizedTest
  @ValueSource(strings = {"queryPort", "disconnect", "destroyQp", "destroyId"})
  void shouldForgetAnAcceptedConnectionWhenAStepThrows(String step) throws Exception {
    fabric.acceptor.listen(MemorySegment.NULL);
    byte[] request =
        new Handshake(config.applicationToken(), "peer", 3).request(Fabric.SELF, 16, 0, 1);
    MemorySegment id = fabric.newId();
    fabric.cmEvent(CmEventType.CONNECT_REQUEST, id, fabric.ids.getFirst(), 0, request, 16);
    fabric.step();
    assertEquals(1, fabric.counters.queuePairs.get());
    fabric.errors.put(step, ERROR);

    fabric.cmEvent(CmEventType.DISCONNECTED, id, 0, NONE);
    fabric.step();
    fabric.loop.doWork();

    assertTrue(fabric.errors.isEmpty(), "the step was taken");
    assertEquals(0, fabric.counters.queuePairs.get());
    assertEquals(0, fabric.table.inUse());
    assertEquals(List.of(id.address()), fabric.destroyedIds);
  }

  /** Whoever has given the batch must be able to give its buffers back. */
  @Test
  void shouldLeaveABatchWithItsGiverWhenItsEndCannotBeTold() throws Exception {
    PeerConnection.Owner owner = mock(PeerConnection.Owner.class);
    doThrow(ERROR).when(owner).end(any(), any());
    when(owner.pool()).thenReturn(fabric.pool);
    PeerConnection connection =
        new PeerConnection(Fabric.PEER, owner, new SendQueue[0], new CmEndpoint[0]);
    connection.fail(FAILURE);
    ReadBuffer buffer = fabric.pool.tryAcquire(8).orElseThrow();
    RecordingListener listener = new RecordingListener();
    ReadBatch batch = new ReadBatch(listener).add(1, 2, buffer, 0, 8);
    buffer.release();

    assertThrows(InternalError.class, () -> connection.read(batch));
    batch.clear();

    listener.assertPending();
    assertEquals(0, fabric.pool.usedBytes());
  }
}
