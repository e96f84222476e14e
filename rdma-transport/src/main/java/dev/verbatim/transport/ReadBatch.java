package dev.verbatim.transport;

import java.util.Arrays;
import java.util.Objects;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * READs that are posted together and end together. Filled by one thread, then given to {@link
 * PeerConnection#read}. Holds a reference to each buffer until the READs have ended; drops it
 * before its listener is told. From then on, in the listener's call too, the batch is empty and may
 * be filled and given again: one that is used again and again allocates nothing, unless it had more
 * than {@link #MOST_KEPT} READs.
 */
public final class ReadBatch {
  private static final int INITIAL_CAPACITY = 8;

  /** An empty batch keeps room for no more READs, 64 KiB: many may be kept for long. */
  static final int MOST_KEPT = 2048;

  private static final long[] NO_ROOM = {};

  private static final Logger LOG = LoggerFactory.getLogger(ReadBatch.class);

  // Words of a READ. An array of primitives, so that a READ costs no object.
  private static final int IOVA = 0;
  private static final int ADDRESS = 1;
  private static final int LENGTH = 2;
  private static final int KEYS = 3; // rkey in the high half, lkey in the low
  private static final int WORDS = 4;

  private final ReadListener listener;
  private int size;
  private long bytes;
  private boolean given;
  private long[] reads = new long[WORDS * INITIAL_CAPACITY];

  /** A buffer into which several READs go one after the other is held once for all of them. */
  private ReadBuffer[] buffers = new ReadBuffer[1];

  private int held;

  /** As many as were needed at a time; the first is enough where there is one queue pair. */
  private BatchPart[] parts = {new BatchPart(this)};

  // Below: the connection's, guarded by its lock.
  ReadBatch previous;
  ReadBatch next;
  int timedFor; // so many batches; 0 when this one is not timed
  long postedNanos; // where it is
  boolean dated;
  long deadlineNanos; // where it is dated
  int partsLeft;
  ReadFailure failure;

  public ReadBatch(ReadListener listener) {
    this.listener = Objects.requireNonNull(listener);
  }

  /**
   * Adds one READ; the transport splits it where the port's maximal message size demands.
   *
   * @param iova the peer's address of the first byte
   * @param rkey the peer's key
   * @param buffer where the bytes go
   * @param offset of the first byte in the buffer
   * @param length bytes, from 1
   * @throws IndexOutOfBoundsException when the range is not inside the buffer
   * @throws IllegalStateException when the batch is under way, or the buffer released
   */
  public ReadBatch add(long iova, int rkey, ReadBuffer buffer, long offset, long length) {
    if (given) {
      throw underWay();
    }
    if (length < 1) {
      throw new IllegalArgumentException("length = " + length + " is out of range: from 1");
    }
    long address = buffer.address(offset, length);
    if (held == 0 || buffers[held - 1] != buffer) {
      hold(buffer);
    }
    if (size == room()) {
      reads = Arrays.copyOf(reads, WORDS * Math.max(INITIAL_CAPACITY, 2 * size));
    }
    int at = WORDS * size;
    reads[at + IOVA] = iova;
    reads[at + ADDRESS] = address;
    reads[at + LENGTH] = length;
    reads[at + KEYS] = (long) rkey << 32 | buffer.lkey() & 0xffff_ffffL;
    size++;
    bytes += length;
    return this;
  }

  private void hold(ReadBuffer buffer) {
    if (held == buffers.length) {
      buffers = Arrays.copyOf(buffers, 2 * held);
    }
    buffer.retain();
    buffers[held++] = buffer;
  }

  private static IllegalStateException underWay() {
    return new IllegalStateException("the batch was posted already and has not ended");
  }

  /**
   * Empties a batch that was not posted, as if nothing had been added.
   *
   * @throws IllegalStateException when the batch is under way
   */
  public void clear() {
    if (given) {
      throw underWay();
    }
    drop();
  }

  /** READs that fit without more memory. */
  int room() {
    return reads.length / WORDS;
  }

  /** READs added. */
  public int size() {
    return size;
  }

  /** Bytes of all READs added. */
  public long bytes() {
    return bytes;
  }

  /** Takes the batch for posting: not empty, and not while it is under way. */
  void give(BufferPool pool) {
    if (given) {
      throw underWay();
    }
    if (size == 0) {
      throw new IllegalArgumentException("the batch is empty");
    }
    for (int i = 0; i < held; i++) {
      if (!buffers[i].isOf(pool)) {
        throw new IllegalArgumentException("a buffer of the batch is of another transport");
      }
    }
    given = true;
    failure = null;
    dated = false;
    partsLeft = 0;
  }

  /** Takes {@link #give} back: the batch was not posted. */
  void giveBack() {
    given = false;
  }

  /** One more part, of bytes that no other part has. */
  BatchPart part(long from, long count) {
    int index = partsLeft++;
    if (index == parts.length) {
      BatchPart more = new BatchPart(this); // first: no gap stays without memory for it
      parts = Arrays.copyOf(parts, index + 1);
      parts[index] = more;
    }
    return parts[index].of(from, count);
  }

  long iova(int read) {
    return reads[WORDS * read + IOVA];
  }

  int rkey(int read) {
    return (int) (reads[WORDS * read + KEYS] >>> 32);
  }

  long address(int read) {
    return reads[WORDS * read + ADDRESS];
  }

  int lkey(int read) {
    return (int) reads[WORDS * read + KEYS];
  }

  long length(int read) {
    return reads[WORDS * read + LENGTH];
  }

  /** Drops the buffers and tells the listener; called when the device is done with them. */
  void end(ReadFailure cause) {
    drop();
    given = false;
    if (cause == null) {
      listener.onSuccess();
    } else {
      listener.onFailure(cause);
    }
  }

  private void drop() {
    size = 0;
    bytes = 0;
    if (room() > MOST_KEPT) {
      reads = NO_ROOM;
    }
    while (held > 0) {
      ReadBuffer buffer = buffers[--held];
      buffers[held] = null;
      try {
        buffer.release();
      } catch (RuntimeException | Error e) { // must not keep the others
        WakeUp.say(e, LOG, "A buffer could not be given back");
      }
    }
  }
}
