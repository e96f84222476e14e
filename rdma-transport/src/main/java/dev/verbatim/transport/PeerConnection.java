package dev.verbatim.transport;

import dev.verbatim.verbs.VerbsException;
import dev.verbatim.verbs.WcStatus;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An established way to one peer: one or several queue pairs. Thread-safe; every method may be
 * called after the connection, or its transport, is closed.
 */
public final class PeerConnection {
  /** A batch goes to one more queue pair for each so many bytes. */
  static final long STRIPE_BYTES = 256 << 10;

  /** So many first batches are timed one by one; of later ones each 17th, for 17. */
  static final int TIMED_SINGLY = 1024;

  /** After so long a tear-down that has not come to its end is asked for again. */
  static final long TEAR_DOWN_AGAIN_NANOS = 1_000_000_000L;

  /** A prime, so that kinds of batches that come by turns are all met. */
  static final int TIMED_EVERY = 17;

  /** What a connection needs of its transport. */
  interface Owner {
    BufferPool pool();

    Counters counters();

    long readTimeoutNanos();

    /**
     * Destroys the queue pairs, then calls {@link PeerConnection#retired} on the poller. Asked for
     * again as long as that has not been done: something may be thrown on the way.
     */
    void tearDown(PeerConnection connection);

    /** Ends a batch that was never posted, on the poller's thread; what it throws it has not. */
    void end(ReadBatch batch, ReadFailure failure);

    /** The device is lost for this process. */
    void deviceFailed(String why);
  }

  private static final Logger LOG = LoggerFactory.getLogger(PeerConnection.class);

  private final PeerAddress peer;
  private final Owner owner;
  private final SendQueue[] queues;
  private final CmEndpoint[] endpoints;
  private final long readTimeoutNanos;
  private final Object lock = new Object();

  // Guarded by the lock.
  private ReadFailure cause;
  private long tearDownAskedNanos;
  private boolean over;
  private ReadBatch oldest;
  private ReadBatch newest;
  private int nextQueue;
  private int timedSingly;
  private int untilTimed = TIMED_EVERY;
  private boolean used;
  private long lastUsedNanos = System.nanoTime();

  private volatile boolean open = true;

  /** The failure is counted against the peer, for its owner. */
  boolean counted;

  PeerConnection(PeerAddress peer, Owner owner, SendQueue[] queues, CmEndpoint[] endpoints) {
    this.peer = peer;
    this.owner = owner;
    this.queues = queues.clone();
    this.endpoints = endpoints.clone();
    this.readTimeoutNanos = owner.readTimeoutNanos();
  }

  public PeerAddress peer() {
    return peer;
  }

  /** Whether READs may still be posted. */
  public boolean isOpen() {
    return open;
  }

  /**
   * Posts the batch and returns; the batch's listener is told the end exactly once, also when the
   * connection is down already. May be called by any thread, a listener's included.
   *
   * @throws IllegalArgumentException when the batch is empty or has a buffer of another transport
   * @throws IllegalStateException when the batch is under way
   */
  public void read(ReadBatch batch) {
    batch.give(owner.pool());
    ReadFailure down;
    synchronized (lock) {
      down = cause;
      if (down == null) {
        used = true;
        time(batch);
        append(batch);
        try {
          stripe(batch);
          for (SendQueue queue : queues) {
            post(queue);
          }
        } catch (VerbsException | RuntimeException | Error e) {
          // Thrown on, it would be told twice: the batch is this connection's already.
          batch.failure = ReadFailures.notPosted(e);
          failLocked(batch.failure);
        }
      }
    }
    if (down != null) {
      endUnposted(batch, down);
    }
  }

  private void endUnposted(ReadBatch batch, ReadFailure down) {
    try {
      owner.end(batch, asConsequence(down));
    } catch (RuntimeException | Error e) { // nobody will tell it
      batch.giveBack();
      throw e;
    }
  }

  /** Starts the clock of a batch that is timed: to read it costs as much as a fifth of a READ. */
  private void time(ReadBatch batch) {
    if (timedSingly < TIMED_SINGLY) {
      timedSingly++;
      batch.timedFor = 1;
    } else if (--untilTimed == 0) {
      untilTimed = TIMED_EVERY;
      batch.timedFor = TIMED_EVERY;
    } else {
      batch.timedFor = 0;
      return;
    }
    batch.postedNanos = System.nanoTime();
  }

  private void stripe(ReadBatch batch) {
    long total = batch.bytes();
    int parts = queues.length == 1 ? 1 : Math.clamp(total / STRIPE_BYTES, 1, queues.length);
    if (parts == 1) {
      addPart(batch, 0, total);
      return;
    }
    long partBytes = (total + parts - 1) / parts;
    for (long from = 0; from < total; from += partBytes) {
      addPart(batch, from, Math.min(partBytes, total - from));
    }
  }

  private void addPart(ReadBatch batch, long from, long bytes) {
    queues[nextQueue].add(batch.part(from, bytes));
    nextQueue = nextQueue + 1 == queues.length ? 0 : nextQueue + 1;
  }

  private void post(SendQueue queue) throws VerbsException {
    if (cause == null) { // or else the queue pairs may be destroyed at any moment
      queue.post();
    }
  }

  private void postMore(SendQueue queue) {
    try {
      post(queue);
    } catch (VerbsException | RuntimeException | Error e) {
      failLocked(ReadFailures.notPosted(e));
    }
  }

  /**
   * Takes a completion; called by the poller.
   *
   * @param ended receives the batches that have ended well
   */
  void completed(int key, int sequence, int status, int vendorError, List<ReadBatch> ended) {
    synchronized (lock) {
      SendQueue queue = queue(key);
      if (queue == null || !queue.isPosted(sequence)) {
        return;
      }
      boolean success = status == WcStatus.SUCCESS.number();
      if (queue.hasFailed()) {
        if (!success) {
          owner.counters().readFailed(WcStatus.of(status).name());
        }
        return;
      }
      // In order: whatever was posted before the first one that failed has ended well, and nothing
      // after it.
      int last = success ? sequence : sequence - 1;
      if (queue.isPosted(last)) {
        succeeded(queue, last, ended);
      }
      if (!success) {
        queue.setFailed();
        failed(queue.oldestBatch(), status, vendorError);
      } else {
        postMore(queue);
      }
    }
  }

  private void succeeded(SendQueue queue, int last, List<ReadBatch> ended) {
    queue.succeeded(last, owner.counters());
    for (ReadBatch batch = queue.pollSucceeded(); batch != null; batch = queue.pollSucceeded()) {
      if (--batch.partsLeft == 0) {
        ended.add(batch); // first: without memory for it the batch is left to its deadline
        remove(batch);
        if (batch.timedFor > 0) {
          long nanos = System.nanoTime() - batch.postedNanos;
          owner.counters().readLatency.record(nanos, batch.timedFor);
        }
      }
    }
  }

  private void failed(ReadBatch batch, int number, int vendorError) {
    WcStatus status = WcStatus.of(number);
    owner.counters().readFailed(status.name());
    ReadFailure failure = ReadFailures.of(status, number, vendorError, peer);
    if (status != WcStatus.WR_FLUSH_ERR && batch.failure == null) {
      batch.failure = failure;
    }
    if (status.consequence() == WcStatus.Consequence.DEVICE_FAILED) {
      owner.deviceFailed(status.cName());
    }
    failLocked(failure);
  }

  /** Ends the connection; its batches are told once the queue pairs are destroyed. */
  void fail(ReadFailure failure) {
    synchronized (lock) {
      failLocked(failure);
    }
  }

  private void failLocked(ReadFailure failure) {
    if (cause == null) {
      cause = failure;
      open = false;
      askForTearDown(System.nanoTime());
    }
  }

  /** Throws nothing: {@link #checkDeadline} asks again. */
  private void askForTearDown(long nowNanos) {
    tearDownAskedNanos = nowNanos;
    try {
      owner.tearDown(this);
    } catch (RuntimeException | Error e) {
      WakeUp.say(e, LOG, "A connection's end is put off");
    }
  }

  /**
   * Fails the connection when its oldest batch is late, and sees that one that has failed is torn
   * down; called by the poller now and then. The time of a batch begins with the first such look at
   * it: reading the clock costs as much as a READ.
   */
  void checkDeadline(long nowNanos) {
    synchronized (lock) {
      if (used) {
        lastUsedNanos = nowNanos;
        used = oldest != null;
      }
      if (cause != null) {
        if (!over && nowNanos - tearDownAskedNanos >= TEAR_DOWN_AGAIN_NANOS) {
          askForTearDown(nowNanos);
        }
        return;
      }
      if (oldest == null) {
        return;
      }
      for (ReadBatch batch = newest; batch != null && !batch.dated; batch = batch.previous) {
        batch.dated = true;
        batch.deadlineNanos = nowNanos + readTimeoutNanos;
      }
      if (oldest.deadlineNanos - nowNanos > 0) {
        return;
      }
      try {
        failLate(nowNanos);
      } finally {
        failLocked(oldest.failure != null ? oldest.failure : ReadFailures.ERROR);
      }
    }
  }

  private void failLate(long nowNanos) {
    for (ReadBatch batch = oldest;
        batch != null && batch.deadlineNanos - nowNanos <= 0;
        batch = batch.next) {
      if (batch.failure == null) {
        batch.failure = ReadFailures.late(batch, peer, readTimeoutNanos);
      }
      owner.counters().readFailed(ReadFailure.Kind.DEADLINE.name());
    }
  }

  /**
   * Fails what is left: the queue pairs are destroyed and their completions were drained. Called by
   * the poller, again after it has thrown.
   *
   * @return false when that was done before
   */
  boolean retired() {
    synchronized (lock) {
      if (over) {
        return false;
      }
      // First: an ended batch may be given to another connection at once.
      for (SendQueue queue : queues) {
        queue.clear();
      }
    }
    while (true) {
      ReadBatch batch;
      ReadFailure failure;
      synchronized (lock) {
        batch = oldest;
        if (batch == null) {
          over = true;
          return true;
        }
        failure = batch.failure != null ? batch.failure : asConsequence(cause);
        remove(batch);
      }
      CompletionPoller.end(batch, failure);
    }
  }

  /** What a batch is told that did not cause the failure itself. */
  private ReadFailure asConsequence(ReadFailure failure) {
    return ReadFailures.asConsequence(failure, peer);
  }

  /**
   * Fails the connection when no batch is under way and none was for so long, as far as {@link
   * #checkDeadline} has seen.
   */
  void failIfIdle(long nowNanos, long idleNanos, ReadFailure failure) {
    synchronized (lock) {
      if (!used && nowNanos - lastUsedNanos >= idleNanos) {
        failLocked(failure);
      }
    }
  }

  /** Somebody is about to READ: not the moment to be found idle. False when it is too late. */
  boolean touch() {
    synchronized (lock) {
      used = true;
      return cause == null;
    }
  }

  /** Why the connection ended, null while it has not. */
  ReadFailure cause() {
    synchronized (lock) {
      return cause;
    }
  }

  CmEndpoint[] endpoints() {
    return endpoints;
  }

  SendQueue[] queues() {
    return queues;
  }

  private SendQueue queue(int key) {
    for (SendQueue queue : queues) {
      if (queue.key() == key) {
        return queue;
      }
    }
    return null;
  }

  private void append(ReadBatch batch) {
    batch.previous = newest;
    if (newest == null) {
      oldest = batch;
    } else {
      newest.next = batch;
    }
    newest = batch;
  }

  private void remove(ReadBatch batch) {
    if (batch.previous == null) {
      oldest = batch.next;
    } else {
      batch.previous.next = batch.next;
    }
    if (batch.next == null) {
      newest = batch.previous;
    } else {
      batch.next.previous = batch.previous;
    }
    batch.previous = null;
    batch.next = null;
  }
}
