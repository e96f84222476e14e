package dev.verbatim.transport;

import dev.verbatim.verbs.Errno;
import dev.verbatim.verbs.IbvMr;
import dev.verbatim.verbs.Verbs;
import dev.verbatim.verbs.VerbsConstants;
import dev.verbatim.verbs.VerbsException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Registers memory with the device and knows all that is registered, so that closing the transport
 * leaves nothing behind.
 */
final class Registrar {
  /**
   * For peers to read: all that map output ever allows. Never with a right to write: Linux refuses
   * to pin file pages for that.
   */
  static final int REMOTE_READ = VerbsConstants.IBV_ACCESS_REMOTE_READ;

  /** What peers may do: such a region has an address that nobody can guess. */
  private static final int REMOTE =
      REMOTE_READ
          | VerbsConstants.IBV_ACCESS_REMOTE_WRITE
          | VerbsConstants.IBV_ACCESS_REMOTE_ATOMIC;

  /**
   * The address for peers keeps so many low bits of the virtual address: with fewer in common a
   * device could not translate the region by large pages.
   */
  private static final long IOVA_ALIGNMENT = 2 << 20;

  private static final Logger LOG = LoggerFactory.getLogger(Registrar.class);

  private final Verbs verbs;
  private final MemorySegment pd;
  private final RegistrationRules rules;
  private final long mostRegionBytes;
  private final Memlock memlock;
  private final Counters counters;
  private final BooleanSupplier outOfReach;
  private final SecureRandom random = new SecureRandom();
  private final Set<MemoryRegion> regions = new HashSet<>();

  /** Read-held while something is registered, so that closing does not miss it. */
  private final ReadWriteLock inUse = new ReentrantReadWriteLock();

  /** What the device would not deregister. */
  private final Queue<Kept> kept = new ConcurrentLinkedQueue<>();

  private boolean closed;

  private record Kept(Registration registration, Arena arena) {}

  /**
   * @param mostRegionBytes {@code max_mr_size} of the device, unsigned
   * @param outOfReach whether it is certain that the device uses no registered memory any more
   */
  Registrar(
      Verbs verbs,
      MemorySegment pd,
      RegistrationRules rules,
      long mostRegionBytes,
      Memlock memlock,
      Counters counters,
      BooleanSupplier outOfReach) {
    this.verbs = verbs;
    this.pd = pd;
    this.rules = rules;
    this.mostRegionBytes = mostRegionBytes <= 0 ? Long.MAX_VALUE : mostRegionBytes;
    this.memlock = memlock;
    this.counters = counters;
    this.outOfReach = outOfReach;
  }

  /**
   * A registration: what {@code ibv_reg_mr} answered.
   *
   * @param handle the {@code struct ibv_mr}
   * @param iova address of the first byte for peers
   */
  record Registration(MemorySegment handle, long iova, int lkey, int rkey, long bytes) {}

  /** Longest region of the device, bytes, whole pages. */
  long mostRegionBytes() {
    return FileParts.step(mostRegionBytes, Pages.size());
  }

  /**
   * Registers memory for peers to read. The region is closed with this registrar at the latest.
   *
   * @param arena whose closing unmaps the memory
   */
  MemoryRegion registerRegion(MemorySegment memory, Arena arena) throws RegistrationException {
    return registerRegion(memory, arena, REMOTE_READ);
  }

  /**
   * Registers memory that is closed with this registrar at the latest.
   *
   * @param arena whose closing unmaps the memory
   * @param access {@code IBV_ACCESS_*}
   */
  MemoryRegion registerRegion(MemorySegment memory, Arena arena, int access)
      throws RegistrationException {
    inUse.readLock().lock();
    try {
      boolean hidden = (access & REMOTE) != 0 && rules.anyIova();
      Registration registration = register(memory, rules.access(access), hidden);
      MemoryRegion region = new MemoryRegion(this, registration, memory, arena);
      synchronized (regions) {
        regions.add(region);
      }
      return region;
    } finally {
      inUse.readLock().unlock();
    }
  }

  /** Registers memory for the device to put there what it reads from peers. */
  Registration registerSink(MemorySegment memory) throws RegistrationException {
    return register(memory, rules.sinkAccess(), false);
  }

  /**
   * @param hidden whether peers know the memory by a random address
   */
  private Registration register(MemorySegment memory, int access, boolean hidden)
      throws RegistrationException {
    long bytes = memory.byteSize();
    if (bytes > mostRegionBytes) {
      throw new RegistrationException(
          RegistrationException.Kind.DEVICE,
          bytes + " bytes are more than the device's longest region, " + mostRegionBytes);
    }
    inUse.readLock().lock();
    try {
      if (closed) {
        throw new IllegalStateException("the transport is closed");
      }
      MemorySegment mr;
      long iova;
      if (hidden) {
        iova = randomIova(memory.address(), bytes);
        mr = verbs.regMrIova(pd, memory, bytes, iova, access);
      } else {
        iova = memory.address();
        mr = verbs.regMr(pd, memory, bytes, access);
      }
      counters.memoryRegions.incrementAndGet();
      counters.registeredBytes.addAndGet(bytes);
      return new Registration(mr, iova, IbvMr.LKEY.get(mr), IbvMr.RKEY.get(mr), bytes);
    } catch (VerbsException e) {
      throw failure(e);
    } finally {
      inUse.readLock().unlock();
    }
  }

  /**
   * Deregisters memory, then unmaps it. What the device keeps stays mapped, since the device may
   * still use it, until that is out of the question: a device that is lost may refuse for ever.
   *
   * @param arena whose closing unmaps the memory
   */
  void release(Registration registration, Arena arena) {
    Kept region = new Kept(registration, arena);
    if (!tryRelease(region)) {
      kept.add(region);
    }
    if (outOfReach.getAsBoolean()) {
      releaseKept();
    }
  }

  private void releaseKept() {
    for (int i = kept.size(); i > 0; i--) {
      Kept region = kept.poll();
      if (region != null && !tryRelease(region)) {
        kept.add(region);
      }
    }
  }

  private boolean tryRelease(Kept region) {
    try {
      verbs.deregMr(region.registration.handle());
    } catch (VerbsException e) {
      if (!outOfReach.getAsBoolean()) {
        LOG.warn(
            "{} bytes stay registered and mapped, since the device might still use them: {}",
            region.registration.bytes(),
            e.getMessage());
        return false;
      }
      LOG.debug("Unmapped all the same, the device is lost: {}", e.getMessage());
    }
    counters.memoryRegions.decrementAndGet();
    counters.registeredBytes.addAndGet(-region.registration.bytes());
    Mappings.release(region.arena);
    return true;
  }

  /**
   * A base that nobody can guess and no two regions share: a stale or wrong pair of address and key
   * must fault at the device. The region must not wrap around the end of the address space.
   */
  private long randomIova(long address, long bytes) {
    long low = address & IOVA_ALIGNMENT - 1;
    while (true) {
      long base = random.nextLong() & -IOVA_ALIGNMENT | low;
      boolean wraps = Long.compareUnsigned(base + bytes, base) <= 0;
      if (!wraps && base != address && Long.compareUnsigned(base, IOVA_ALIGNMENT) >= 0) {
        return base;
      }
    }
  }

  private RegistrationException failure(VerbsException e) {
    boolean limited = e.errno() == Errno.EPERM || e.errno() == Errno.ENOMEM && memlock.isEnforced();
    if (limited) {
      return new RegistrationException(
          RegistrationException.Kind.MEMLOCK, e.getMessage() + "; " + memlock.describe(), e);
    }
    RegistrationException.Kind kind =
        switch (e.errno()) {
          case Errno.EFAULT, Errno.EINVAL, Errno.EOPNOTSUPP ->
              RegistrationException.Kind.NOT_PINNABLE;
          default -> RegistrationException.Kind.DEVICE;
        };
    return new RegistrationException(kind, e.getMessage(), e);
  }

  /** The region was deregistered. */
  void forget(MemoryRegion region) {
    synchronized (regions) {
      regions.remove(region);
    }
  }

  /** Closes all regions that are still open and waits for those that others are just closing. */
  void close() {
    inUse.writeLock().lock();
    closed = true;
    inUse.writeLock().unlock();
    List<MemoryRegion> open;
    synchronized (regions) {
      open = new ArrayList<>(regions);
    }
    open.forEach(MemoryRegion::close);
    releaseKept();
  }
}
