package dev.verbatim.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.same;
import static org.mockito.Mockito.doThrow;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.verify;

import dev.verbatim.verbs.Verbs;
import dev.verbatim.verbs.VerbsException;
import dev.verbatim.verbs.WcStatus;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** What batches are told when completions, errors and flushes come, without a device. */
class CompletionOrderTest {
  private static final int DEPTH = 16;
  private static final int POOL_BYTES = 1 << 20;
  private static final long MOST_READ_BYTES = 4096;
  private static final int SUCCESS = WcStatus.SUCCESS.number();
  private static final int ACCESS_ERROR = WcStatus.REM_ACCESS_ERR.number();
  private static final int FLUSHED = WcStatus.WR_FLUSH_ERR.number();

  /** Counts tear-downs and ends batches as the poller does, but at once. */
  private final class Owner implements PeerConnection.Owner {
    final Counters counters = new Counters();
    int tearDowns;

    @Override
    public BufferPool pool() {
      return pool;
    }

    @Override
    public Counters counters() {
      return counters;
    }

    @Override
    public long readTimeoutNanos() {
      return Duration.ofSeconds(10).toNanos();
    }

    @Override
    public void tearDown(PeerConnection torn) {
      tearDowns++;
    }

    @Override
    public void deviceFailed(String why) {
      throw new AssertionError(why);
    }

    @Override
    public void end(ReadBatch batch, ReadFailure failure) {
      CompletionPoller.end(batch, failure);
    }
  }

  /** A batch that is used again once it has ended, each time with a listener of its own. */
  private final class Reused implements ReadListener {
    final ReadBatch batch = new ReadBatch(this);
    RecordingListener listener;

    @Override
    public void onSuccess() {
      ended.add(this);
      listener.onSuccess();
    }

    @Override
    public void onFailure(ReadFailure failure) {
      ended.add(this);
      listener.onFailure(failure);
    }
  }

  private final ArrayDeque<Reused> ended = new ArrayDeque<>();
  private final Verbs verbs = mock(Verbs.class);
  private final BufferPool pool = Buffers.pool(POOL_BYTES);
  private final Owner owner = new Owner();
  private final MemorySegment[] queuePairs = {
    Arena.ofAuto().allocate(8), Arena.ofAuto().allocate(8)
  };
  private PeerConnection connection;
  private int[] posted;

  private void connect(int queues) {
    SendQueue[] sendQueues = new SendQueue[queues];
    for (int i = 0; i < queues; i++) {
      sendQueues[i] =
          new SendQueue(verbs, queuePairs[i], i, DEPTH, MOST_READ_BYTES, Arena.ofAuto());
    }
    posted = new int[queues];
    PeerAddress peer =
        new PeerAddress("peer", new InetSocketAddress(InetAddress.getLoopbackAddress(), 7), 0);
    connection = new PeerConnection(peer, owner, sendQueues, new CmEndpoint[0]);
  }

  private RecordingListener read(long bytes) {
    ReadBuffer buffer = pool.tryAcquire(bytes).orElseThrow();
    Reused reused = ended.isEmpty() ? new Reused() : ended.remove();
    reused.listener = new RecordingListener();
    connection.read(reused.batch.add(1L << 40, 5, buffer, 0, bytes));
    buffer.release();
    return reused.listener;
  }

  private void complete(int queue, int sequence, int status) {
    List<ReadBatch> ended = new ArrayList<>();
    connection.completed(queue, sequence, status, 0, ended);
    ended.forEach(batch -> CompletionPoller.end(batch, null));
  }

  @Test
  void shouldTellEachBatchOnceAndRightlyWhenAnErrorIsFollowedByFlushes() {
    connect(1);
    List<RecordingListener> batches = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      batches.add(read(100));
    }
    complete(0, 0, SUCCESS);
    batches.get(0).assertEnded("success");
    complete(0, 4, ACCESS_ERROR);
    for (int i = 5; i < 8; i++) {
      complete(0, i, FLUSHED);
    }
    for (int i = 0; i < 4; i++) {
      batches.get(i).assertEnded("success");
    }
    for (int i = 4; i < 8; i++) {
      batches.get(i).assertPending(); // until the queue pair is destroyed
    }
    connection.retired();
    batches.get(4).assertEnded("REMOTE_ACCESS");
    for (int i = 5; i < 8; i++) {
      batches.get(i).assertEnded("DISCONNECTED");
    }
    assertEquals(1, owner.tearDowns);
    assertEquals(4, owner.counters.readsCompleted.get());
    assertEquals(
        "{REM_ACCESS_ERR=1, WR_FLUSH_ERR=3}",
        owner.counters.snapshot(0, 0, 0, 0).readFailures().toString());
    assertEquals(0, pool.usedBytes());
  }

  @Test
  void shouldFailABatchWhoseFirstPiecesSucceeded() {
    connect(1);
    RecordingListener large = read(5 * MOST_READ_BYTES);
    RecordingListener next = read(1);
    complete(0, 2, ACCESS_ERROR);
    complete(0, 3, FLUSHED);
    complete(0, 4, FLUSHED);
    complete(0, 5, FLUSHED);
    connection.retired();
    large.assertEnded("REMOTE_ACCESS");
    next.assertEnded("DISCONNECTED");
    assertEquals(2 * MOST_READ_BYTES, owner.counters.readBytes.get());
  }

  @Test
  void shouldIgnoreCompletionsThatAreNotPosted() {
    connect(1);
    RecordingListener batch = read(1);
    complete(0, 1, SUCCESS);
    complete(0, -1, SUCCESS);
    complete(7, 0, SUCCESS);
    batch.assertPending();
    complete(0, 0, SUCCESS);
    complete(0, 0, FLUSHED);
    batch.assertEnded("success");
    assertTrue(connection.isOpen());
  }

  @Test
  void shouldPostNothingMoreWhenPostingToOneQueuePairFailed() throws Exception {
    connect(2);
    doThrow(new VerbsException("ibv_post_send", 12, ""))
        .when(verbs)
        .postSend(same(queuePairs[0]), any(), any());
    RecordingListener batch = read(2 * PeerConnection.STRIPE_BYTES);
    verify(verbs, never()).postSend(same(queuePairs[1]), any(), any());
    assertFalse(connection.isOpen());
    batch.assertPending();
    connection.retired();
    batch.assertEnded("OTHER");
    RecordingListener late = read(1);
    late.assertEnded("DISCONNECTED");
    assertEquals(1, owner.tearDowns);
    assertEquals(0, pool.usedBytes());
  }

  /** A listener tries again at once, with the same batch, on the next connection. */
  @Test
  void shouldTakeFailedBatchesOnAnotherConnectionFromTheirListeners() {
    connect(2);
    PeerConnection first = connection;
    ReadBuffer buffer = pool.tryAcquire(POOL_BYTES).orElseThrow();
    long bytes = 2 * PeerConnection.STRIPE_BYTES;
    List<String> ends = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      ReadBatch[] own = new ReadBatch[1];
      own[0] =
          new ReadBatch(
              new ReadListener() {
                @Override
                public void onSuccess() {
                  ends.add("success");
                }

                @Override
                public void onFailure(ReadFailure failure) {
                  ends.add("failure");
                  connection.read(own[0].add(1L << 40, 5, buffer, 0, bytes));
                }
              });
      first.read(own[0].add(1L << 40, 5, buffer, 0, bytes));
    }
    first.fail(new ReadFailure(ReadFailure.Kind.DISCONNECTED, "the end"));
    connect(2);
    first.retired();
    assertEquals(List.of("failure", "failure", "failure"), ends);
    ends.clear();
    drain();
    assertEquals(List.of("success", "success", "success"), ends);
    assertEquals(3 * bytes, owner.counters.readBytes.get());
    buffer.release();
    assertEquals(0, pool.usedBytes());
  }

  @Test
  void shouldFailTheLateBatchByItsDeadlineAndTheOthersAsItsConsequence() {
    connect(1);
    RecordingListener late = read(1);
    long first = System.nanoTime();
    connection.checkDeadline(first);
    RecordingListener other = read(1);
    connection.checkDeadline(first + owner.readTimeoutNanos() - 1);
    assertTrue(connection.isOpen());
    connection.checkDeadline(first + owner.readTimeoutNanos());
    assertFalse(connection.isOpen());
    complete(0, 0, FLUSHED);
    complete(0, 1, FLUSHED);
    connection.retired();
    late.assertEnded("DEADLINE");
    other.assertEnded("DISCONNECTED");
    assertEquals(ReadFailure.Kind.DEADLINE, connection.cause().kind());
  }

  @Test
  void shouldLeaveABatchToItsDeadlineWhenItsEndCannotBeNoted() {
    connect(1);
    RecordingListener batch = read(1);
    assertThrows(
        UnsupportedOperationException.class, // for want of memory
        () -> connection.completed(0, 0, SUCCESS, 0, List.of()));
    long now = System.nanoTime();
    connection.checkDeadline(now);
    connection.checkDeadline(now + owner.readTimeoutNanos());
    connection.retired();
    batch.assertEnded("DEADLINE");
    assertEquals(0, pool.usedBytes());
  }

  @Test
  void shouldNotBeFoundIdleWhenSomebodyIsAboutToRead() {
    connect(1);
    ReadFailure idled = new ReadFailure(ReadFailure.Kind.DISCONNECTED, "idle");
    long now = System.nanoTime() + 1_000_000_000L;
    RecordingListener batch = read(1);
    connection.failIfIdle(now, 1_000, idled);
    assertTrue(connection.touch(), "a batch is under way");
    complete(0, 0, SUCCESS);
    batch.assertEnded("success");
    connection.checkDeadline(now);
    connection.failIfIdle(now + 999, 1_000, idled);
    assertTrue(connection.touch());
    connection.failIfIdle(now + 1_000, 1_000, idled);
    assertTrue(connection.isOpen(), "somebody is about to read");
    connection.checkDeadline(now + 1_000);
    connection.failIfIdle(now + 2_000, 1_000, idled);
    assertFalse(connection.touch());
  }

  /** Any order of completions on two queue pairs, an error or none, flushes told or dropped. */
  @Test
  void shouldTellEachOfManyRandomBatchesOnceAndOnlyWhatItsPiecesSay() {
    for (int seed = 0; seed < 300; seed++) {
      Random random = new Random(seed);
      connect(1 + random.nextInt(2));
      randomRun(random, "seed " + seed);
    }
  }

  private void randomRun(Random random, String label) {
    List<RecordingListener> batches = new ArrayList<>();
    List<Long> sizes = new ArrayList<>();
    long before = owner.counters.readBytes.get();
    boolean failed = false;
    for (int step = 0; step < 60; step++) {
      if (random.nextInt(3) == 0) {
        long bytes = 1 + random.nextInt(3 * (int) MOST_READ_BYTES);
        batches.add(read(bytes));
        sizes.add(bytes);
      } else {
        int queue = random.nextInt(posted.length);
        int sequence = posted[queue] + random.nextInt(3);
        if (connection.queues()[queue].isPosted(sequence)) {
          boolean error = random.nextInt(12) == 0;
          failed |= error;
          complete(queue, sequence, error ? ACCESS_ERROR : SUCCESS);
          posted[queue] = sequence + 1;
        }
      }
    }
    if (failed || random.nextBoolean()) {
      connection.fail(new ReadFailure(ReadFailure.Kind.DISCONNECTED, "the end"));
      connection.retired();
    } else {
      drain();
    }
    long succeeded = 0;
    for (int i = 0; i < batches.size(); i++) {
      assertEquals(1, batches.get(i).ends.size(), label + ", batch " + i);
      succeeded += batches.get(i).failure == null ? sizes.get(i) : 0;
    }
    long brought = owner.counters.readBytes.get() - before;
    assertTrue(succeeded <= brought, label + ": told as read " + succeeded + " of " + brought);
    assertEquals(0, pool.usedBytes(), label);
  }

  private void drain() {
    for (int queue = 0; queue < posted.length; queue++) {
      while (connection.queues()[queue].isPosted(posted[queue])) {
        complete(queue, posted[queue]++, SUCCESS);
      }
    }
  }
}
