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
 * Thread-safe; no file is read while the lock is held.
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

  /** Copies under way: their memory must stay. */
  private int copies;

  private boolean closed;

  /** Where a copy goes. */
  private record Room(MemoryRegion region, long offset) {}

  /** A way of registering memory. */
  private interface Registration {
    List<MemoryRegion> register() throws RegistrationException;
  }

  OutputArena(RdmaTransport transport, RegistrationBudget budget, ShuffleCounters counters) {
    this.transport = transport;
    this.budget = budget;
    this.counters = counters;
  }

  /**
   * Copies the first {@code length} bytes of a file. Reading by the channel and not by a mapping
   * makes a truncated file an exception instead of a fault.
   */
  RemoteAddress copy(FileChannel file, long length)
      throws DeclinedException, RegistrationException, IOException {
    // A file larger than a slab has a region of its own, and leaves the slab to others.
    Room room =
        length <= LARGEST_SLAB
            ? roomInSlab(length)
            : new Room(
                register(length, 1, () -> List.of(transport.allocate(length))).getFirst(), 0);
    boolean whole = false;
    try {
      fill(room, file, length);
      whole = true;
    } finally {
      copied(whole);
    }
    return new RemoteAddress(room.region().iova() + room.offset(), room.region().rkey());
  }

  private static void fill(Room room, FileChannel file, long length) throws IOException {
    long done = 0;
    while (done < length) {
      long count = Math.min(length - done, LARGEST_SLAB);
      ByteBuffer bytes =
          room.region().segment().asSlice(room.offset() + done, count).asByteBuffer();
      while (bytes.hasRemaining()) {
        if (file.read(bytes, done + bytes.position()) < 0) {
          throw new IOException("file ends before " + length + " bytes");
        }
      }
      done += count;
    }
  }

  private synchronized void copied(boolean whole) throws DeclinedException {
    copies--;
    notifyAll();
    if (whole) {
      checkOpen();
    }
  }

  /** Registers the first {@code length} bytes of a file in place. */
  List<MemoryRegion> map(Path file, long length, FilePinMode mode)
      throws DeclinedException, RegistrationException {
    return register(length, 0, () -> transport.registerFile(file, length, mode));
  }

  /**
   * Registers memory without the lock.
   *
   * @param copiesToCome into the memory; {@link #close} waits for them
   */
  private List<MemoryRegion> register(long bytes, int copiesToCome, Registration registration)
      throws DeclinedException, RegistrationException {
    take(bytes, bytes);
    List<MemoryRegion> added;
    try {
      added = registration.register();
    } catch (Throwable e) {
      budget.giveBack(bytes);
      throw e;
    }
    synchronized (this) {
      if (!closed) {
        keep(added, bytes);
        copies += copiesToCome;
        return added;
      }
    }
    added.forEach(MemoryRegion::close);
    budget.giveBack(bytes);
    throw removed();
  }

  private void keep(List<MemoryRegion> added, long bytes) {
    regions.addAll(added);
    registered += bytes;
    counters.regions(added.size(), bytes);
  }

  private synchronized Room roomInSlab(long length)
      throws DeclinedException, RegistrationException {
    checkOpen();
    long offset = Math.ceilDiv(slabUsed, ALIGNMENT) * ALIGNMENT;
    if (slab == null || slab.length() - offset < length) {
      grow(length);
      offset = 0;
    }
    slabUsed = offset + length;
    copies++;
    return new Room(slab, offset);
  }

  private void grow(long length) throws DeclinedException, RegistrationException {
    long bytes = take(length, Math.max(length, nextSlab));
    MemoryRegion next;
    try {
      next = transport.allocate(bytes);
    } catch (Throwable e) {
      budget.giveBack(bytes);
      throw e;
    }
    slab = next;
    nextSlab = Math.min(nextSlab * 2, LARGEST_SLAB);
    keep(List.of(next), bytes);
  }

  private long take(long least, long most) throws DeclinedException {
    long taken = budget.take(least, most);
    if (taken == 0) {
      throw new DeclinedException(
          FallbackReason.BUDGET_REACHED, least + " bytes more than " + budget.used() + " in use");
    }
    return taken;
  }

  private void checkOpen() throws DeclinedException {
    if (closed) {
      throw removed();
    }
  }

  private static DeclinedException removed() {
    return new DeclinedException(FallbackReason.SHUFFLE_REMOVED, "the shuffle was removed");
  }

  /** Waits for copies that are under way, then deregisters everything. Idempotent. */
  @Override
  public synchronized void close() {
    if (closed) {
      return;
    }
    closed = true;
    awaitCopies();
    regions.forEach(MemoryRegion::close);
    counters.regions(-regions.size(), -registered);
    budget.giveBack(registered);
    regions.clear();
    slab = null;
    registered = 0;
  }

  /** An interrupt does not end it: the memory would go while a file is read into it. */
  private void awaitCopies() {
    boolean interrupted = false;
    while (copies > 0) {
      try {
        wait();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
