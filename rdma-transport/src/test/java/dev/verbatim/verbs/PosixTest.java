package dev.verbatim.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class PosixTest {
  private static Posix posix;

  @BeforeAll
  static void bind() throws Exception {
    posix = new FfmPosix(new Symbols(Linker.nativeLinker().defaultLookup()));
  }

  @Test
  void shouldMapZeroedMemoryWhenAnonymous() throws Exception {
    long length = 3 * posix.pageSize();
    MemorySegment mapping =
        posix.mmap(
            length,
            PosixConstants.PROT_READ | PosixConstants.PROT_WRITE,
            PosixConstants.MAP_PRIVATE | PosixConstants.MAP_ANONYMOUS,
            -1,
            0);

    assertEquals(length, mapping.byteSize());
    assertEquals(0, mapping.get(ValueLayout.JAVA_LONG, length - 8));
    mapping.set(ValueLayout.JAVA_LONG, length - 8, 42);
    assertTrue(isMapped(mapping));

    posix.munmap(mapping);
    assertTrue(!isMapped(mapping));
  }

  /** The kernel tells neighbours of the same kind as one mapping. */
  private static boolean isMapped(MemorySegment mapping) throws IOException {
    return Files.readAllLines(Path.of("/proc/self/maps")).stream()
        .map(line -> line.substring(0, line.indexOf(' ')).split("-"))
        .anyMatch(
            range ->
                Long.parseUnsignedLong(range[0], 16) <= mapping.address()
                    && mapping.address() + mapping.byteSize()
                        <= Long.parseUnsignedLong(range[1], 16));
  }

  @Test
  void shouldNameErrnoAndArgumentsWhenMappingFails() {
    VerbsException e =
        assertThrows(
            VerbsException.class,
            () -> posix.mmap(4096, PosixConstants.PROT_READ, PosixConstants.MAP_SHARED, -1, 0));

    assertEquals("mmap", e.function());
    assertEquals(Errno.EBADF, e.errno());
    assertEquals("EBADF", e.errnoName());
    assertTrue(e.getMessage().startsWith("mmap(length=4096"), e.getMessage());
    assertTrue(e.getMessage().endsWith("EBADF (errno 9)"), e.getMessage());
  }

  @Test
  void shouldTellMemlockLimitOfThisProcess() throws Exception {
    String line =
        Files.readAllLines(Path.of("/proc/self/limits")).stream()
            .filter(l -> l.startsWith("Max locked memory"))
            .findFirst()
            .orElseThrow();
    String soft = line.substring("Max locked memory".length()).trim().split("\\s+")[0];
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment limit = Rlimit.STRUCT.allocate(arena);
      posix.getrlimit(PosixConstants.RLIMIT_MEMLOCK, limit);

      long current = Rlimit.RLIM_CUR.get(limit);
      assertEquals(
          soft,
          current == PosixConstants.RLIM_INFINITY ? "unlimited" : Long.toUnsignedString(current));
    }
  }

  @Test
  void shouldWakePollerWhenSignalledUntilDrained() throws Exception {
    int fd = posix.eventfd();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment fds = Pollfd.STRUCT.allocate(arena, 2);
      Pollfd.FD.set(fds, 0, -1);
      Pollfd.FD.set(fds, 1, fd);
      Pollfd.EVENTS.set(fds, 1, PosixConstants.POLLIN);

      assertEquals(0, posix.poll(fds, 2, 0));
      posix.signal(fd);
      posix.signal(fd);
      assertEquals(1, posix.poll(fds, 2, 60_000));
      assertEquals(PosixConstants.POLLIN, Pollfd.REVENTS.get(fds, 1));
      posix.drain(fd);
      posix.drain(fd);
      assertEquals(0, posix.poll(fds, 2, 0));
    } finally {
      posix.close(fd);
    }
    VerbsException e = assertThrows(VerbsException.class, () -> posix.setNonBlocking(fd));
    assertEquals(Errno.EBADF, e.errno());
  }

  @Test
  void shouldSetNonBlockingWhenAsked() throws Exception {
    int fd = posix.eventfd();
    try {
      posix.setNonBlocking(fd);
      String info = Files.readString(Path.of("/proc/self/fdinfo/" + fd));
      int flags =
          info.lines()
              .filter(l -> l.startsWith("flags:"))
              .mapToInt(l -> Integer.parseInt(l.substring(6).trim(), 8))
              .findFirst()
              .orElseThrow();
      assertNotEquals(0, flags & PosixConstants.O_NONBLOCK);
    } finally {
      posix.close(fd);
    }
  }

  @Test
  void shouldTellPowerOfTwoWhenAskedForPageSize() {
    assertEquals(1, Long.bitCount(posix.pageSize()));
    assertTrue(posix.pageSize() >= 4096);
  }
}
