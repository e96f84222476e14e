package dev.verbatim.shuffle.reader;

import dev.verbatim.shuffle.reader.MapOutputLocation.RemoteAddress;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Indexes of map outputs as READs have brought them, so that later reduce tasks of the executor
 * need no READ to know where their blocks lie: a committed map output never changes. The entries
 * are a peer's and are checked at each use. An index that finds no room is not kept, and its
 * entries are READ one by one. Thread-safe.
 */
public final class IndexCache {
  /** Longer indexes are not kept: a reduce task needs only two entries of each. */
  static final int MOST_INDEX_BYTES = 16 << 10;

  /** Of all indexes, and for each {@link #OVERHEAD_BYTES}. */
  static final long MOST_BYTES = 32 << 20;

  /** About what an entry costs besides its offsets. */
  static final int OVERHEAD_BYTES = 128;

  /**
   * A shuffle that was not asked for so long makes room for others. Never one that is in use: where
   * all together are too large, each reader would throw out what the next one needs.
   */
  static final long IDLE_NANOS = TimeUnit.SECONDS.toNanos(10);

  /**
   * An index.
   *
   * @param address where it was READ
   * @param offsets null while that READ is under way
   */
  private record Entry(RemoteAddress address, long[] offsets, int bytes) {}

  private static final class Shuffle {
    final Map<Long, Entry> entries = new HashMap<>();
    long bytes;
    long usedAt;
  }

  private final LongSupplier nanoTime;

  /** The one that was used longest ago comes first. */
  private final Map<Integer, Shuffle> shuffles = new LinkedHashMap<>(16, 0.75f, true);

  private long bytes;

  public IndexCache() {
    this(System::nanoTime);
  }

  IndexCache(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
  }

  /** The offsets of the block's map output, or null when they are not kept. */
  synchronized long[] get(ShuffleBlock block) {
    Shuffle shuffle = shuffles.get(block.shuffleId);
    if (shuffle == null) {
      return null;
    }
    shuffle.usedAt = nanoTime.getAsLong();
    Entry entry = shuffle.entries.get(block.mapId);
    return entry == null || !entry.address().equals(block.output.index()) ? null : entry.offsets();
  }

  /**
   * Takes room for the index of the block's map output.
   *
   * @param indexBytes of the whole index
   * @return whether the caller is to READ it, and then to {@link #keep} or {@link #drop} it
   */
  synchronized boolean claim(ShuffleBlock block, int indexBytes) {
    if (indexBytes > MOST_INDEX_BYTES) {
      return false;
    }
    Shuffle shuffle = shuffles.computeIfAbsent(block.shuffleId, key -> new Shuffle());
    shuffle.usedAt = nanoTime.getAsLong();
    int wanted = indexBytes + OVERHEAD_BYTES;
    if (shuffle.entries.containsKey(block.mapId) || !makeRoom(wanted)) {
      return false;
    }
    Entry entry = new Entry(block.output.index(), null, wanted);
    add(shuffle, wanted); // first: whatever is thrown, no more is taken off than was added
    shuffle.entries.put(block.mapId, entry);
    return true;
  }

  private boolean makeRoom(int wanted) {
    Iterator<Shuffle> oldest = shuffles.values().iterator();
    long now = nanoTime.getAsLong();
    while (bytes + wanted > MOST_BYTES && oldest.hasNext()) {
      Shuffle shuffle = oldest.next();
      if (now - shuffle.usedAt < IDLE_NANOS) {
        return false;
      }
      bytes -= shuffle.bytes;
      oldest.remove();
    }
    return bytes + wanted <= MOST_BYTES;
  }

  private void add(Shuffle shuffle, int change) {
    shuffle.bytes += change;
    bytes += change;
  }

  /** Keeps what was claimed, unless it was dropped meanwhile. */
  synchronized void keep(ShuffleBlock block, long[] offsets) {
    Shuffle shuffle = shuffles.get(block.shuffleId);
    if (shuffle != null) {
      shuffle.entries.computeIfPresent(
          block.mapId,
          (key, entry) ->
              entry.address().equals(block.output.index())
                  ? new Entry(entry.address(), offsets, entry.bytes())
                  : entry);
    }
  }

  /** Forgets the index of the block's map output; it may be READ again. */
  synchronized void drop(ShuffleBlock block) {
    Shuffle shuffle = shuffles.get(block.shuffleId);
    Entry entry = shuffle == null ? null : shuffle.entries.remove(block.mapId);
    if (entry != null) {
      add(shuffle, -entry.bytes());
    }
  }

  /** Forgets a shuffle that is no more. */
  public synchronized void remove(int shuffleId) {
    Shuffle shuffle = shuffles.remove(shuffleId);
    if (shuffle != null) {
      bytes -= shuffle.bytes;
    }
  }

  /** Bytes taken, at most {@link #MOST_BYTES}. */
  synchronized long bytes() {
    return bytes;
  }
}
