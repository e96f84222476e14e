package dev.verbatim.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.doThrow;

import dev.verbatim.verbs.Errno;
import dev.verbatim.verbs.VerbsException;
import dev.verbatim.verbs.WcStatus;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class PeerConnectionTest {
  private Fabric fabric;
  private PeerConnection connection;
  private ReadBuffer buffer;

  @BeforeEach
  void connect() throws Exception {
    connect(new TransportConfig(), 10_000);
  }

  private void connect(TransportConfig config, int maxQpWr) throws Exception {
    fabric = new Fabric(config, maxQpWr);
    connection = fabric.connected();
    buffer = fabric.pool.tryAcquire(100_000).orElseThrow();
  }

  private RecordingListener read(int reads) {
    RecordingListener listener = new RecordingListener();
    ReadBatch batch = new ReadBatch(listener);
    for (int i = 0; i < reads; i++) {
      batch.add(1_000_000 + i * 100L, 5, buffer, i * 10L, 10);
    }
    connection.read(batch);
    return listener;
  }

  @Test
  void shouldPostABatchWithOneDoorbellAndSignalTheLast() throws Exception {
    RecordingListener listener = read(20);
    assertEquals(List.of(20), fabric.doorbells);
    assertEquals(1, fabric.posted.stream().filter(Fabric.Posted::signalled).count());
    Fabric.Posted last = fabric.posted.getLast();
    assertTrue(last.signalled());
    assertEquals(1_000_000 + 1900, last.iova());
    assertEquals(5, last.rkey());
    assertEquals(buffer.address(190, 10), last.address());
    assertEquals(10, last.length());
    listener.assertPending();
    fabric.complete(19, WcStatus.SUCCESS);
    fabric.poller.doWork();
    listener.assertEnded("success");
    assertEquals(20, fabric.counters.readsCompleted.get());
    assertEquals(200, fabric.counters.readBytes.get());
    assertEquals(1, fabric.counters.readLatency.snapshot().count());
  }

  @Test
  void shouldTimeEachOfTheFirstBatchesAndThenOneForSeventeen() throws Exception {
    int singly = PeerConnection.TIMED_SINGLY;
    int every = PeerConnection.TIMED_EVERY;
    for (int batch = 1; batch <= singly + 2 * every; batch++) {
      read(1);
      fabric.complete(fabric.posted.size() - 1, WcStatus.SUCCESS);
      fabric.poller.doWork();
      int timed = batch <= singly ? batch : batch - (batch - singly) % every;
      assertEquals(timed, fabric.counters.readLatency.snapshot().count(), "after " + batch);
    }
  }

  @Test
  void shouldPostTheRestWhenTheSendQueueHasRoomAgain() throws Exception {
    connect(new TransportConfig(), 10); // 8 after the provider's slack
    RecordingListener listener = read(30);
    assertEquals(8, fabric.posted.size());
    int seen = 0;
    while (seen < fabric.posted.size()) {
      if (fabric.posted.get(seen).signalled()) {
        fabric.complete(seen, WcStatus.SUCCESS);
        fabric.poller.doWork();
      }
      seen++;
      assertTrue(fabric.posted.size() - seen <= 8 + 2);
    }
    assertEquals(30, fabric.posted.size());
    listener.assertEnded("success");
    assertEquals(30, fabric.posted.stream().map(Fabric.Posted::id).distinct().count());
  }

  @Test
  void shouldHoldBuffersUntilTheBatchEnds() throws Exception {
    read(1);
    buffer.release();
    assertTrue(fabric.pool.usedBytes() > 0);
    fabric.complete(0, WcStatus.SUCCESS);
    fabric.poller.doWork();
    assertEquals(0, fabric.pool.usedBytes());
  }

  /** Every status: the right reason, after the queue pair is destroyed, once; never a hang. */
  @ParameterizedTest
  @EnumSource(
      mode = EnumSource.Mode.EXCLUDE,
      names = {"SUCCESS", "UNKNOWN"})
  void shouldFailForEveryStatus(WcStatus status) throws Exception {
    RecordingListener good = read(2);
    RecordingListener culprit = read(2);
    RecordingListener behind = read(2);
    fabric.complete(1, WcStatus.SUCCESS);
    fabric.complete(2, status);
    fabric.complete(3, WcStatus.WR_FLUSH_ERR);
    fabric.complete(5, WcStatus.WR_FLUSH_ERR);
    fabric.poller.doWork();
    good.assertEnded("success");
    assertFalse(connection.isOpen());
    culprit.assertPending();
    behind.assertPending();
    assertTrue(fabric.destroyedQueuePairs.isEmpty());

    fabric.step();
    assertEquals(1, fabric.destroyedQueuePairs.size());
    assertEquals(1, fabric.destroyedIds.size());
    String expected = ReadFailures.kind(status).name();
    culprit.assertEnded(expected);
    assertTrue(culprit.failure.detail().contains(status.name()), culprit.failure.detail());
    assertTrue(
        List.of("DISCONNECTED", "PEER_UNREACHABLE", "LOCAL_DEVICE").containsAll(behind.ends),
        behind.ends.toString());
    assertEquals(1, behind.ends.size());
    buffer.release();
    assertEquals(0, fabric.pool.usedBytes());
    assertEquals(0, fabric.counters.queuePairs.get());
    assertTrue(fabric.counters.snapshot(0, 0, 0, 0).readFailures().containsKey(status.name()));
    boolean deviceLost = status.consequence() == WcStatus.Consequence.DEVICE_FAILED;
    assertEquals(!deviceLost, fabric.monitor.isActive(), "the device is used on");
  }

  @Test
  void shouldIgnoreLateCompletionsOfAQueuePairThatIsGone() throws Exception {
    RecordingListener first = read(1);
    fabric.complete(0, WcStatus.REM_ACCESS_ERR);
    fabric.poller.doWork();
    fabric.step();
    first.assertEnded("REMOTE_ACCESS");
    fabric.complete(0, WcStatus.SUCCESS);
    fabric.poller.doWork();
    first.assertEnded("REMOTE_ACCESS");
  }

  @Test
  void shouldCountAsSuccessWhatCompletedBeforeTheQueuePairWasDestroyed() throws Exception {
    RecordingListener listener = read(1);
    connection.fail(new ReadFailure(ReadFailure.Kind.DISCONNECTED, "gone"));
    fabric.complete(0, WcStatus.SUCCESS);
    fabric.step();
    listener.assertEnded("success");
  }

  @Test
  void shouldEndByTheDeadlineOnlyAfterTheQueuePairIsDestroyed() throws Exception {
    connect(new TransportConfig().readTimeout(Duration.ofMillis(50)), 10_000);
    RecordingListener late = read(1);
    connection.checkDeadline(System.nanoTime());
    assertTrue(connection.isOpen());
    Thread.sleep(60);
    RecordingListener young = read(1);
    connection.checkDeadline(System.nanoTime());
    assertFalse(connection.isOpen());
    late.assertPending();
    fabric.step();
    assertEquals(1, fabric.destroyedQueuePairs.size());
    late.assertEnded("DEADLINE");
    young.assertEnded("DISCONNECTED");
    assertEquals(1L, fabric.counters.snapshot(0, 0, 0, 0).readFailures().get("DEADLINE"));
  }

  @Test
  void shouldTellTheListenerOnThePollerWhenTheConnectionIsDownAlready() throws Exception {
    connection.fail(new ReadFailure(ReadFailure.Kind.DISCONNECTED, "gone"));
    fabric.step();
    RecordingListener listener = read(3);
    listener.assertPending();
    fabric.poller.doWork();
    listener.assertEnded("DISCONNECTED");
    assertTrue(fabric.posted.isEmpty());
  }

  @Test
  void shouldFailWhenTheDeviceRefusesAPost() throws Exception {
    doThrow(new VerbsException("ibv_post_send", Errno.ENOMEM, ""))
        .when(fabric.verbs)
        .postSend(any(), any(), any());
    RecordingListener listener = read(1);
    fabric.step();
    listener.assertEnded("OTHER");
    assertTrue(listener.failure.detail().contains("ENOMEM"));
  }

  @Test
  void shouldGoOnWhenAListenerThrows() throws Exception {
    connection.read(
        new ReadBatch(
                new ReadListener() {
                  @Override
                  public void onSuccess() {
                    throw new IllegalStateException("a listener's fault");
                  }

                  @Override
                  public void onFailure(ReadFailure failure) {}
                })
            .add(1, 2, buffer, 0, 1));
    RecordingListener next = read(1);
    fabric.complete(0, WcStatus.SUCCESS);
    fabric.complete(1, WcStatus.SUCCESS);
    fabric.poller.doWork();
    next.assertEnded("success");
    buffer.release();
    assertEquals(0, fabric.pool.usedBytes());
  }

  @Test
  void shouldStripeOnlyLargeBatchesOverQueuePairs() throws Exception {
    connect(new TransportConfig().qpsPerPeer(2), 10_000);
    read(1);
    assertEquals(List.of(1), fabric.doorbells);
    ReadBuffer large = fabric.pool.tryAcquire(2 * PeerConnection.STRIPE_BYTES).orElseThrow();
    RecordingListener listener = new RecordingListener();
    connection.read(new ReadBatch(listener).add(0, 1, large, 0, large.length()));
    assertEquals(3, fabric.posted.size());
    assertEquals(2, fabric.posted.stream().map(p -> p.id() >>> 32).distinct().count());
    fabric.complete(1, WcStatus.SUCCESS);
    fabric.poller.doWork();
    listener.assertPending();
    fabric.complete(2, WcStatus.SUCCESS);
    fabric.poller.doWork();
    listener.assertEnded("success");
  }

  @Test
  void shouldUseABatchAgainInTheCallOfItsListener() throws Exception {
    List<String> ends = new ArrayList<>();
    ReadBatch[] batch = new ReadBatch[1];
    batch[0] =
        new ReadBatch(
            new ReadListener() {
              @Override
              public void onSuccess() {
                ends.add("success");
                assertEquals(0, batch[0].size());
                if (ends.size() < 3) {
                  connection.read(batch[0].add(7, 5, buffer, 20, 30).add(9, 6, buffer, 0, 1));
                }
              }

              @Override
              public void onFailure(ReadFailure failure) {
                ends.add(failure.toString());
              }
            });
    connection.read(batch[0].add(1, 5, buffer, 0, 10));
    for (int round = 0; round < 3; round++) {
      fabric.complete(2 * round, WcStatus.SUCCESS);
      fabric.poller.doWork();
    }
    assertEquals(List.of("success", "success", "success"), ends);
    assertEquals(List.of(1, 2, 2), fabric.doorbells);
    for (int first = 1; first < 5; first += 2) {
      Fabric.Posted read = fabric.posted.get(first);
      assertEquals(List.of(7L, 5, 30), List.of(read.iova(), read.rkey(), read.length()));
      assertEquals(buffer.address(20, 30), read.address());
      assertEquals(6, fabric.posted.get(first + 1).rkey());
    }
    assertEquals(72, fabric.counters.readBytes.get());
    buffer.release();
    assertEquals(0, fabric.pool.usedBytes(), "a reference for each time, not for each READ");
  }

  @Test
  void shouldForgetWhatWasAddedWhenABatchIsCleared() throws Exception {
    RecordingListener listener = new RecordingListener();
    ReadBatch batch = new ReadBatch(listener).add(1, 5, buffer, 0, 10);
    batch.clear();
    assertEquals(0, batch.size());
    connection.read(batch.add(2, 6, buffer, 20, 30));
    assertThrows(IllegalStateException.class, batch::clear, "it is under way");
    assertEquals(1, fabric.posted.size());
    assertEquals(2, fabric.posted.getFirst().iova());
    fabric.complete(0, WcStatus.SUCCESS);
    fabric.poller.doWork();
    listener.assertEnded("success");
    buffer.release();
    assertEquals(0, fabric.pool.usedBytes(), "every reference is given back");
  }

  @Test
  void shouldRefuseABatchTwiceEmptyOrOfAnotherPool() {
    ReadBatch empty = new ReadBatch(new RecordingListener());
    assertThrows(IllegalArgumentException.class, () -> connection.read(empty));
    ReadBatch batch = new ReadBatch(new RecordingListener()).add(0, 1, buffer, 0, 1);
    connection.read(batch);
    assertThrows(IllegalStateException.class, () -> connection.read(batch));
    assertThrows(IllegalStateException.class, () -> batch.add(0, 1, buffer, 0, 1));
    ReadBuffer foreign = Buffers.pool(4096).tryAcquire(1).orElseThrow();
    ReadBatch other = new ReadBatch(new RecordingListener()).add(0, 1, foreign, 0, 1);
    assertThrows(IllegalArgumentException.class, () -> connection.read(other));
  }
}
