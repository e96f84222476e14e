package dev.verbatim.shuffle.writer;

import dev.verbatim.shuffle.fallback.FallbackReason;
import dev.verbatim.shuffle.metrics.ShuffleCounters;
import dev.verbatim.shuffle.reader.MapOutputLocation.RemoteAddress;
import dev.verbatim.transport.FilePinMode;
import dev.verbatim.transport.MemoryRegion;
import dev.verbatim.transport.RdmaTransport;
import dev.verbatim.transport.RegistrationException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The registered memory of one shuffle's map outputs. Small files are packed into slabs; slabs are
 * never shared between shuffles, so that closing the arena makes every key of the shuffle stale.
 * Thread-safe.
 */
final class OutputArena implements AutoCloseable {
  static final long SMALLEST_SLAB = 256 << 10;
  static final long LARGEST_SLAB = 16 << 20;
  private static final int ALIGNMENT = 8;

  private final RdmaTransport transport;
  private final RegistrationBudget budget;
  private final ShuffleCounters counters;
  private final List<MemoryRegion> regions = new ArrayList<>();
  private long registered;
  private long nextSlab = SMALLEST_SLAB;
  private MemoryRegion slab;
  private long slabUsed;
  private boolean closed;

  OutputArena(RdmaTransport transport, RegistrationBudget budget, ShuffleCounters counters) {
    this.transport = transport;
    this.budget = budget;
    this.counters = counters;
  }

  /**
   * Copies the first {@code length} bytes of a file. Reading by the channel and not by a mapping
   * makes a truncated file an exception instead of a fault.
   */
  synchronized RemoteAddress copy(FileChannel file, long length)
      throws DeclinedException, RegistrationException, IOException {
    long offset = reserve(length);
    MemoryRegion target = slab;
    long done = 0;
    while (done < length) {
      long count = Math.min(length - done, LARGEST_SLAB);
      ByteBuffer bytes = target.segment().asSlice(offset + done, count).asByteBuffer();
      while (bytes.hasRemaining()) {
        if (file.read(bytes, done + bytes.position()) < 0) {
          throw new IOException("file ends before " + length + " bytes");
        }
      }
      done += count;
    }
    return new RemoteAddress(target.iova() + offset, target.rkey());
  }

  /** Registers the first {@code length} bytes of a file in place. */
  List<MemoryRegion> map(Path file, long length, FilePinMode mode)
      throws DeclinedException, RegistrationException {
    take(length);
    List<MemoryRegion> mapped;
    try {
      mapped = transport.registerFile(file, length, mode);
    } catch (Throwable e) {
      budget.giveBack(length);
      throw e;
    }
    synchronized (this) {
      if (!closed) {
        regions.addAll(mapped);
        registered += length;
        counters.regions(mapped.size(), length);
        return mapped;
      }
    }
    mapped.forEach(MemoryRegion::close);
    budget.giveBack(length);
    throw removed();
  }

  private long reserve(long length) throws DeclinedException, RegistrationException {
    if (closed) {
      throw removed();
    }
    long offset = Math.ceilDiv(slabUsed, ALIGNMENT) * ALIGNMENT;
    if (slab == null || slab.length() - offset < length) {
      grow(length);
      offset = 0;
    }
    slabUsed = offset + length;
    return offset;
  }

  private void grow(long length) throws DeclinedException, RegistrationException {
    long bytes = Math.max(length, nextSlab);
    take(bytes);
    try {
      slab = transport.allocate(bytes);
    } catch (Throwable e) {
      budget.giveBack(bytes);
      throw e;
    }
    nextSlab = Math.min(nextSlab * 2, LARGEST_SLAB);
    regions.add(slab);
    registered += bytes;
    counters.regions(1, bytes);
  }

  private void take(long bytes) throws DeclinedException {
    if (!budget.tryTake(bytes)) {
      throw new DeclinedException(
          FallbackReason.BUDGET_REACHED, bytes + " bytes more than " + budget.used() + " in use");
    }
  }

  private static DeclinedException removed() {
    return new DeclinedException(FallbackReason.SHUFFLE_REMOVED, "the shuffle was removed");
  }

  /** Deregisters everything. Idempotent. */
  @Override
  public synchronized void close() {
    if (closed) {
      return;
    }
    closed = true;
    regions.forEach(MemoryRegion::close);
    counters.regions(-regions.size(), -registered);
    budget.giveBack(registered);
    regions.clear();
    slab = null;
    registered = 0;
  }
}
