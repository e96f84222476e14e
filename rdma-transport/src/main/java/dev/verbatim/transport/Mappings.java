package dev.verbatim.transport;

import dev.verbatim.verbs.Errno;
import dev.verbatim.verbs.Posix;
import dev.verbatim.verbs.PosixConstants;
import dev.verbatim.verbs.VerbsException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Maps memory whose life an arena guards, so that a use after unmapping is an exception and not a
 * crash.
 */
final class Mappings {
  private static final int RELEASE_TRIES = 100;

  private static final Logger LOG = LoggerFactory.getLogger(Mappings.class);

  private final Posix posix;
  private final MapRoom room;
  private final AtomicBoolean reservedPages = new AtomicBoolean(true);
  private volatile boolean gotReservedPages;
  private final Counters counters;

  /** Mappings without memory, which the kernel will take back when it has room to. */
  private final Queue<MemorySegment> kept = new ConcurrentLinkedQueue<>();

  Mappings(Posix posix, MapRoom room, Counters counters) {
    this.posix = posix;
    this.room = room;
    this.counters = counters;
  }

  /**
   * Zeroed memory.
   *
   * @param bytes a multiple of the page size
   * @param huge whether to ask for huge pages first
   */
  MemorySegment anonymous(long bytes, boolean huge, Arena arena) throws RegistrationException {
    room.take();
    long hugePage = Pages.hugeSize();
    boolean fits = huge && reservedPages.get() && hugePage > 0 && bytes % hugePage == 0;
    MemorySegment mapping = fits ? tryReservedHugePages(bytes) : null;
    if (mapping == null) {
      mapping = mapPages(bytes);
      if (huge) {
        adviseHugePages(mapping);
      }
    }
    counters.mappings.incrementAndGet();
    return mapping.reinterpret(arena, this::unmap);
  }

  /**
   * Asks for no reserved huge pages any more: a container may be allowed none of those that its
   * host has, which shows when they are touched, that is when they are pinned.
   *
   * @return whether it has got some, and has asked for them until now
   */
  boolean giveUpReservedPages() {
    return gotReservedPages && reservedPages.getAndSet(false);
  }

  private MemorySegment tryReservedHugePages(long bytes) {
    try {
      MemorySegment mapping = map(bytes, PosixConstants.MAP_HUGETLB);
      gotReservedPages = true;
      return mapping;
    } catch (VerbsException e) {
      return null; // none are reserved, or not enough
    }
  }

  private MemorySegment mapPages(long bytes) throws RegistrationException {
    try {
      return map(bytes, 0);
    } catch (VerbsException e) {
      throw e.errno() == Errno.ENOMEM
          ? noRoom(e.getMessage(), e)
          : new RegistrationException(RegistrationException.Kind.DEVICE, e.getMessage(), e);
    }
  }

  private RegistrationException noRoom(String what, Exception cause) {
    return new RegistrationException(
        RegistrationException.Kind.MAPPING, what + "; " + room.describe(), cause);
  }

  private MemorySegment map(long bytes, int flags) throws VerbsException {
    return posix.mmap(
        bytes,
        PosixConstants.PROT_READ | PosixConstants.PROT_WRITE,
        PosixConstants.MAP_PRIVATE | PosixConstants.MAP_ANONYMOUS | flags,
        -1,
        0);
  }

  private void adviseHugePages(MemorySegment mapping) {
    try {
      posix.madvise(mapping, PosixConstants.MADV_HUGEPAGE);
    } catch (VerbsException e) {
      LOG.debug("No transparent huge pages: {}", e.getMessage());
    }
  }

  private void unmap(MemorySegment mapping) {
    try {
      posix.munmap(mapping);
      counters.mappings.decrementAndGet();
      retryKept();
    } catch (VerbsException e) {
      // At the limit of mappings one cannot be cut out of others that the kernel has merged.
      LOG.warn("A mapping stays for now, its memory does not: {}", e.getMessage());
      giveMemoryBack(mapping);
      kept.add(mapping);
    }
  }

  private void giveMemoryBack(MemorySegment mapping) {
    try {
      posix.madvise(mapping, PosixConstants.MADV_DONTNEED);
    } catch (VerbsException e) {
      LOG.warn("The memory of a mapping stays, too: {}", e.getMessage());
    }
  }

  private void retryKept() {
    for (MemorySegment mapping = kept.poll(); mapping != null; mapping = kept.poll()) {
      try {
        posix.munmap(mapping);
        counters.mappings.decrementAndGet();
      } catch (VerbsException e) {
        kept.add(mapping);
        return;
      }
    }
  }

  /** An open file of which at least {@code length} bytes exist. */
  static FileChannel open(Path file, long length, FilePinMode mode) throws RegistrationException {
    Set<OpenOption> options =
        mode == FilePinMode.WRITABLE_MAPPING
            ? Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE)
            : Set.of(StandardOpenOption.READ);
    FileChannel channel = null;
    try {
      channel = FileChannel.open(file, options);
      long size = channel.size();
      if (size >= length) {
        return channel;
      }
      channel.close();
      throw new RegistrationException(
          RegistrationException.Kind.FILE,
          file + " has " + size + " bytes, fewer than the " + length + " asked for");
    } catch (IOException e) {
      close(channel, e);
      throw fileFailure(file, e);
    }
  }

  private static void close(FileChannel channel, IOException reason) {
    try {
      if (channel != null) {
        channel.close();
      }
    } catch (IOException e) {
      reason.addSuppressed(e);
    }
  }

  /** A shared mapping of a part of the file; read-only for the program in either mode. */
  MemorySegment file(
      Path file, FileChannel channel, long offset, long length, FilePinMode mode, Arena arena)
      throws RegistrationException {
    room.take();
    MapMode mapMode = mode == FilePinMode.WRITABLE_MAPPING ? MapMode.READ_WRITE : MapMode.READ_ONLY;
    try {
      MemorySegment mapping = channel.map(mapMode, offset, length, arena);
      counters.mappings.incrementAndGet();
      // The arena unmaps it; this is told of that.
      return mapping
          .reinterpret(arena, unmapped -> counters.mappings.decrementAndGet())
          .asReadOnly();
    } catch (IOException e) {
      if (e.getCause() instanceof OutOfMemoryError) { // this is how Java tells ENOMEM
        room.refused();
        throw noRoom("mmap of " + length + " bytes of " + file + " failed: ENOMEM", e);
      }
      throw fileFailure(file, e);
    }
  }

  private static RegistrationException fileFailure(Path file, IOException e) {
    return new RegistrationException(RegistrationException.Kind.FILE, file + ": " + e, e);
  }

  /** Closes the arena, also when another thread is just copying from its memory. */
  static void release(Arena arena) {
    boolean interrupted = false;
    for (int i = 0; !tryClose(arena); i++) {
      if (i == RELEASE_TRIES) {
        LOG.warn("A mapping stays: its memory is in use");
        break;
      }
      try {
        Thread.sleep(1);
      } catch (InterruptedException e) {
        interrupted = true; // whoever is interrupted must not leave a mapping behind
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private static boolean tryClose(Arena arena) {
    try {
      arena.close();
      return true;
    } catch (IllegalStateException e) {
      return !arena.scope().isAlive();
    }
  }
}
