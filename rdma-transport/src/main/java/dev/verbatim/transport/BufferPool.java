package dev.verbatim.transport;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Registered memory that READs land in. Registration is far too slow to be done per READ, so the
 * pool registers whole slabs once and hands out slices of them; a request larger than a slab gets a
 * slab of its own size, which is kept for reuse until its room is needed.
 */
final class BufferPool {
  /** Slices start at cache lines, so that no two buffers share one. */
  private static final long ALIGNMENT = 64;

  private static final Logger LOG = LoggerFactory.getLogger(BufferPool.class);

  private final SlabSource source;
  private final long slabBytes;
  private final long limitBytes;

  /** Held while a slab is made or dropped, which takes milliseconds; never inside {@link #lock}. */
  private final Object growth = new Object();

  /** Guards everything below; held briefly. */
  private final Object lock = new Object();

  private final List<Slab> slabs = new ArrayList<>(); // smallest first
  private long totalBytes;
  private long usedBytes;
  private boolean closed;
  private boolean warned;

  BufferPool(SlabSource source, long slabBytes, long limitBytes) {
    this.source = source;
    this.slabBytes = slabBytes;
    this.limitBytes = limitBytes;
  }

  /** Makes the first slab, so that an obstacle to registering shows at start. */
  void warmUp() throws RegistrationException {
    synchronized (growth) {
      add(source.create(slabBytes));
    }
  }

  /** A buffer, or empty when the limit is reached or the device refuses another slab. */
  Optional<ReadBuffer> tryAcquire(long bytes) {
    if (bytes < 1) {
      throw new IllegalArgumentException("bytes = " + bytes + " is out of range: from 1");
    }
    if (bytes > limitBytes) {
      return Optional.empty();
    }
    long size = roundUp(bytes, ALIGNMENT);
    ReadBuffer buffer = carve(size, bytes);
    if (buffer != null) {
      return Optional.of(buffer);
    }
    synchronized (growth) {
      buffer = carve(size, bytes);
      if (buffer == null && grow(size)) {
        buffer = carve(size, bytes);
      }
    }
    return Optional.ofNullable(buffer);
  }

  private ReadBuffer carve(long size, long length) {
    synchronized (lock) {
      if (closed) {
        throw new IllegalStateException("the transport is closed");
      }
      for (Slab slab : slabs) {
        long offset = slab.take(size);
        if (offset >= 0) {
          return buffer(slab, offset, size, length);
        }
      }
      return null;
    }
  }

  private ReadBuffer buffer(Slab slab, long offset, long size, long length) {
    try {
      ReadBuffer buffer = new ReadBuffer(this, slab, offset, size, length);
      usedBytes += size;
      return buffer;
    } catch (RuntimeException | Error e) { // without memory for it the slice has no owner
      slab.give(offset, size);
      throw e;
    }
  }

  void giveBack(Slab slab, long offset, long size) {
    synchronized (lock) {
      usedBytes -= size;
      slab.give(offset, size);
    }
  }

  private boolean grow(long size) {
    long wanted = roundUp(Math.max(size, slabBytes), Pages.size());
    if (wanted > limitBytes) {
      wanted = roundUp(size, Pages.size());
    }
    if (!makeRoom(wanted)) {
      return false;
    }
    try {
      add(source.create(wanted));
      return true;
    } catch (RegistrationException e) {
      synchronized (lock) {
        if (!warned) {
          warned = true;
          LOG.warn("The pool of READ buffers stays at {} bytes: {}", totalBytes, e.getMessage());
        }
      }
      return false;
    }
  }

  /** Drops unused slabs, largest first, until so many bytes fit under the limit. */
  private boolean makeRoom(long bytes) {
    List<Slab> dropped = new ArrayList<>();
    synchronized (lock) {
      long unused = slabs.stream().filter(Slab::isUnused).mapToLong(Slab::bytes).sum();
      if (totalBytes - unused + bytes > limitBytes) {
        return false;
      }
      for (int i = slabs.size() - 1; i >= 0 && totalBytes + bytes > limitBytes; i--) {
        if (slabs.get(i).isUnused()) {
          Slab slab = slabs.remove(i);
          totalBytes -= slab.bytes();
          dropped.add(slab);
        }
      }
    }
    dropped.forEach(Slab::close);
    return true;
  }

  private void add(Slab slab) {
    synchronized (lock) {
      if (!closed) {
        slabs.add(slab);
        slabs.sort(Comparator.comparingLong(Slab::bytes));
        totalBytes += slab.bytes();
        return;
      }
    }
    slab.close();
  }

  long totalBytes() {
    synchronized (lock) {
      return totalBytes;
    }
  }

  long usedBytes() {
    synchronized (lock) {
      return usedBytes;
    }
  }

  /** Deregisters all slabs, those with slices in use too: no READ may be outstanding any more. */
  void close() {
    synchronized (growth) { // a slab that is just made or dropped is gone after this, too
      List<Slab> all;
      synchronized (lock) {
        closed = true;
        all = List.copyOf(slabs);
        slabs.clear();
        totalBytes = 0;
      }
      all.forEach(Slab::close);
    }
  }

  private static long roundUp(long value, long multiple) {
    return (value + multiple - 1) / multiple * multiple;
  }
}
