package dev.verbatim.transport;

import java.util.BitSet;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * Finds the connection of a completion by the key in its {@code wr_id}. Queue pair numbers would
 * not do: the device reuses them, and a late completion of a dead queue pair must not be taken for
 * one of its successor. Also the budget of queue pairs.
 *
 * @param <T> a connection, of one queue pair or several
 */
final class SendQueueTable<T> {
  private static final int GENERATION_BITS = 11;

  private final AtomicReferenceArray<T> connections;
  private final int[] generations;
  private final BitSet used = new BitSet();
  private final int slotBits;
  private BooleanSupplier makeRoom = () -> false;

  SendQueueTable(int capacity) {
    connections = new AtomicReferenceArray<>(capacity);
    generations = new int[capacity];
    slotBits = 31 - GENERATION_BITS;
    if (capacity > 1 << slotBits) {
      throw new IllegalArgumentException("capacity = " + capacity + " is out of range");
    }
  }

  /**
   * @param makeRoom answers whether it has released a key; called by {@link #reserve} when all are
   *     in use
   */
  void whenFull(BooleanSupplier makeRoom) {
    this.makeRoom = makeRoom;
  }

  /** A fresh key, or -1 when all are in use and stay so. */
  int reserve() {
    int key = reserveUnused();
    return key < 0 && makeRoom.getAsBoolean() ? reserveUnused() : key;
  }

  private synchronized int reserveUnused() {
    int slot = used.nextClearBit(0);
    if (slot >= connections.length()) {
      return -1;
    }
    used.set(slot);
    generations[slot] = generations[slot] + 1 & (1 << GENERATION_BITS) - 1;
    return generations[slot] << slotBits | slot;
  }

  void set(int key, T connection) {
    connections.set(slot(key), connection);
  }

  /** The connection of a key, or null when it is gone; the caller compares the key itself. */
  T get(int key) {
    int slot = slot(key);
    return slot < connections.length() ? connections.get(slot) : null;
  }

  synchronized void release(int key) {
    connections.set(slot(key), null);
    used.clear(slot(key));
  }

  synchronized int inUse() {
    return used.cardinality();
  }

  /** Visits each slot's connection; one with several queue pairs several times. */
  void forEach(Consumer<T> visitor) {
    int end;
    synchronized (this) {
      end = used.length();
    }
    for (int i = 0; i < end; i++) {
      T connection = connections.get(i);
      if (connection != null) {
        visitor.accept(connection);
      }
    }
  }

  private int slot(int key) {
    return key & (1 << slotBits) - 1;
  }
}
