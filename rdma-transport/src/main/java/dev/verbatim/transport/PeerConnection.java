package dev.verbatim.transport;

import dev.verbatim.verbs.VerbsException;
import dev.verbatim.verbs.WcStatus;
import java.util.List;

/**
 * An established way to one peer: one or several queue pairs. Thread-safe; every method may be
 * called after the connection, or its transport, is closed.
 */
public final class PeerConnection {
  /** A batch goes to one more queue pair for each so many bytes. */
  static final long STRIPE_BYTES = 256 << 10;

  /** So many first batches are timed one by one; of later ones each 17th, for 17. */
  static final int TIMED_SINGLY = 1024;

  /** A prime, so that kinds of batches that come by turns are all met. */
  static final int TIMED_EVERY = 17;

  /** What a connection needs of its transport. */
  interface Owner {
    BufferPool pool();

    Counters counters();

    long readTimeoutNanos();

    /** Destroys the queue pairs, then calls {@link PeerConnection#retired} on the poller. */
    void tearDown(PeerConnection connection);

    /** Ends a batch that was never posted, on the poller's thread. */
    void end(ReadBatch batch, ReadFailure failure);

    /** The device is lost for this process. */
    void deviceFailed(String why);
  }

  private final PeerAddress peer;
  private final Owner owner;
  private final SendQueue[] queues;
  private final CmEndpoint[] endpoints;
  private final long readTimeoutNanos;
  private final Object lock = new Object();

  // Guarded by the lock.
  private ReadFailure cause;
  private ReadBatch oldest;
  private ReadBatch newest;
  private int nextQueue;
  private int timedSingly;
  private int untilTimed = TIMED_EVERY;
  private boolean used;
  private long lastUsedNanos = System.nanoTime();

  private volatile boolean open = true;

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
          batch.failure = notPosted(e);
          failLocked(batch.failure);
        }
      }
    }
    if (down != null) {
      owner.end(batch, asConsequence(down));
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
      failLocked(notPosted(e));
    }
  }

  private static ReadFailure notPosted(Throwable e) {
    String why = e instanceof VerbsException ? e.getMessage() : e.toString();
    return new ReadFailure(ReadFailure.Kind.OTHER, why);
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
      owner.tearDown(this);
    }
  }

  /**
   * Fails the connection when its oldest batch is late; called by the poller now and then. The time
   * of a batch begins with the first such look at it: reading the clock costs as much as a READ.
   */
  void checkDeadline(long nowNanos) {
    synchronized (lock) {
      if (used) {
        lastUsedNanos = nowNanos;
        used = oldest != null;
      }
      if (oldest == null || cause != null) {
        return;
      }
      for (ReadBatch batch = newest; batch != null && !batch.dated; batch = batch.previous) {
        batch.dated = true;
        batch.deadlineNanos = nowNanos + readTimeoutNanos;
      }
      if (oldest.deadlineNanos - nowNanos > 0) {
        return;
      }
      for (ReadBatch batch = oldest;
          batch != null && batch.deadlineNanos - nowNanos <= 0;
          batch = batch.next) {
        if (batch.failure == null) {
          batch.failure =
              new ReadFailure(
                  ReadFailure.Kind.DEADLINE,
                  ("%d READs of %d bytes from %s did not end within %d ms")
                      .formatted(batch.size(), batch.bytes(), peer, readTimeoutNanos / 1_000_000));
        }
        owner.counters().readFailed(ReadFailure.Kind.DEADLINE.name());
      }
      failLocked(oldest.failure);
    }
  }

  /**
   * Fails what is left: the queue pairs are destroyed and their completions were drained. Called by
   * the poller.
   */
  void retired() {
    synchronized (lock) {
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
          return;
        }
        remove(batch);
        failure = batch.failure != null ? batch.failure : asConsequence(cause);
      }
      CompletionPoller.end(batch, failure);
    }
  }

  /** What a batch is told that did not cause the failure itself. */
  private ReadFailure asConsequence(ReadFailure failure) {
    return switch (failure.kind()) {
      case PEER_UNREACHABLE, DISCONNECTED, LOCAL_PORT, LOCAL_DEVICE -> failure;
      case REMOTE_ACCESS, DEADLINE, OTHER ->
          new ReadFailure(
              ReadFailure.Kind.DISCONNECTED,
              "another READ of the connection to " + peer + " failed: " + failure.detail());
    };
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
