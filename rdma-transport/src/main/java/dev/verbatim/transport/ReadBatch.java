package dev.verbatim.transport;

import java.util.Arrays;
import java.util.Objects;

/**
 * READs that are posted together and end together. Filled by one thread, then given to {@link
 * PeerConnection#read}, once. Holds a reference to each buffer until it has ended.
 */
public final class ReadBatch {
  private static final int INITIAL_CAPACITY = 8;

  private final ReadListener listener;
  private int size;
  private long bytes;
  private boolean given;

  // One READ per index; arrays of primitives so that a READ costs no object.
  private long[] iovas = new long[INITIAL_CAPACITY];
  private long[] addresses = new long[INITIAL_CAPACITY];
  private long[] lengths = new long[INITIAL_CAPACITY];
  private int[] rkeys = new int[INITIAL_CAPACITY];
  private int[] lkeys = new int[INITIAL_CAPACITY];
  private ReadBuffer[] buffers = new ReadBuffer[INITIAL_CAPACITY];

  // Below: the connection's, guarded by its lock.
  ReadBatch previous;
  ReadBatch next;
  long deadlineNanos;
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
   * @throws IllegalStateException when the batch was posted already, or the buffer released
   */
  public ReadBatch add(long iova, int rkey, ReadBuffer buffer, long offset, long length) {
    if (given) {
      throw new IllegalStateException("the batch was posted already");
    }
    if (length < 1) {
      throw new IllegalArgumentException("length = " + length + " is out of range: from 1");
    }
    long address = buffer.address(offset, length);
    buffer.retain();
    if (size == iovas.length) {
      grow(size * 2);
    }
    iovas[size] = iova;
    addresses[size] = address;
    lengths[size] = length;
    rkeys[size] = rkey;
    lkeys[size] = buffer.lkey();
    buffers[size] = buffer;
    size++;
    bytes += length;
    return this;
  }

  private void grow(int capacity) {
    iovas = Arrays.copyOf(iovas, capacity);
    addresses = Arrays.copyOf(addresses, capacity);
    lengths = Arrays.copyOf(lengths, capacity);
    rkeys = Arrays.copyOf(rkeys, capacity);
    lkeys = Arrays.copyOf(lkeys, capacity);
    buffers = Arrays.copyOf(buffers, capacity);
  }

  /** READs added. */
  public int size() {
    return size;
  }

  /** Bytes of all READs added. */
  public long bytes() {
    return bytes;
  }

  /** Takes the batch for posting; it can be taken once, and not empty. */
  void give(BufferPool pool) {
    if (size == 0) {
      throw new IllegalArgumentException("the batch is empty");
    }
    if (given) {
      throw new IllegalStateException("the batch was posted already");
    }
    for (int i = 0; i < size; i++) {
      if (!buffers[i].isOf(pool)) {
        throw new IllegalArgumentException("a buffer of the batch is of another transport");
      }
    }
    given = true;
  }

  long iova(int read) {
    return iovas[read];
  }

  int rkey(int read) {
    return rkeys[read];
  }

  long address(int read) {
    return addresses[read];
  }

  int lkey(int read) {
    return lkeys[read];
  }

  long length(int read) {
    return lengths[read];
  }

  /** Tells the listener and drops the buffers; called once, when the device is done with them. */
  void end(ReadFailure cause) {
    try {
      if (cause == null) {
        listener.onSuccess();
      } else {
        listener.onFailure(cause);
      }
    } finally {
      for (int i = 0; i < size; i++) {
        buffers[i].release();
        buffers[i] = null;
      }
    }
  }
}
