package dev.verbatim.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import dev.verbatim.verbs.Errno;
import dev.verbatim.verbs.IbvMr;
import dev.verbatim.verbs.Posix;
import dev.verbatim.verbs.PosixConstants;
import dev.verbatim.verbs.Verbs;
import dev.verbatim.verbs.VerbsConstants;
import dev.verbatim.verbs.VerbsException;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Memory that the kernel does not map, or does not take back. */
class NoMappingTest {
  private static final long LIMIT = 65_530;
  private static final int MOST_CALLS = 20;

  private final Verbs verbs = mock(Verbs.class);
  private final Posix posix = mock(Posix.class);
  private final Counters counters = new Counters();
  private final List<String> calls = new ArrayList<>();
  private int maps;
  private int failing;
  private boolean keeps;
  private boolean full;
  private int counts;
  private long now;

  @TempDir Path directory;

  @BeforeEach
  void stub() throws VerbsException {
    when(verbs.regMrIova(any(), any(), anyLong(), anyLong(), anyInt()))
        .thenAnswer(call -> IbvMr.STRUCT.allocate(Arena.ofAuto()));
    when(verbs.regMr(any(), any(), anyLong(), anyInt()))
        .thenAnswer(call -> IbvMr.STRUCT.allocate(Arena.ofAuto()));
    when(posix.mmap(anyLong(), anyInt(), anyInt(), anyInt(), anyLong()))
        .thenAnswer(
            call -> {
              maps++;
              if (maps == failing) {
                throw new VerbsException("mmap", Errno.ENOMEM, "length=" + call.getArgument(0));
              }
              calls.add("map");
              return Arena.global().allocate(call.<Long>getArgument(0), Pages.size());
            });
    doAnswer(
            call -> {
              if (keeps) {
                throw new VerbsException("munmap", Errno.ENOMEM, "");
              }
              return calls.add("unmap");
            })
        .when(posix)
        .munmap(any());
    doAnswer(call -> calls.add("advise " + call.getArgument(1)))
        .when(posix)
        .madvise(any(), anyInt());
  }

  @AfterEach
  void shouldHaveNothingLeft() {
    assertEquals(0, counters.memoryRegions.get());
    assertEquals(0, counters.registeredBytes.get());
    assertEquals(0, counters.mappings.get());
  }

  private MemoryManager manager(long mostRegionBytes) {
    MapRoom room =
        new MapRoom(
            posix,
            LIMIT,
            () -> {
              counts++;
              return full || counts == failing ? LIMIT : LIMIT - LIMIT / 16 - 1; // room for one
            },
            () -> now);
    return new MemoryManager(
        new Mappings(posix, room, counters),
        new Registrar(
            verbs,
            MemorySegment.NULL,
            new RegistrationRules(VerbsConstants.IBV_ACCESS_LOCAL_WRITE, true),
            mostRegionBytes,
            new Memlock(posix),
            counters,
            () -> false),
        false,
        new NodeMemory(posix, -1));
  }

  /** All kinds of memory, in the order in which a process comes to need them. */
  private void useAll(MemoryManager manager, Path file) throws RegistrationException {
    List<Runnable> open = new ArrayList<>();
    try {
      for (int round = 0; round < 2; round++) {
        open.add(manager.slab(Pages.size())::close);
        open.add(manager.allocate(1)::close);
        for (MemoryRegion region :
            manager.registerFile(file, 3 * Pages.size(), FilePinMode.READ_ONLY_MAPPING)) {
          open.add(region::close);
        }
      }
      assertEquals(10, counters.mappings.get());
    } finally {
      open.forEach(Runnable::run);
    }
  }

  private Path file() throws IOException {
    return Files.write(directory.resolve("data"), new byte[(int) (3 * Pages.size())]);
  }

  /** Of anonymous memory, since Java maps files by itself. */
  @Test
  void shouldSayWhyAndLeaveNothingWhenTheNthMmapFails() throws Exception {
    Path file = file();
    for (failing = 1; ; failing++) {
      maps = 0;
      counts = MOST_CALLS; // none of them fails
      try {
        useAll(manager(Pages.size()), file);
        break;
      } catch (RegistrationException e) {
        assertEquals(RegistrationException.Kind.MAPPING, e.kind());
        assertTrue(e.getMessage().contains("ENOMEM"), e.getMessage());
        assertTrue(e.getMessage().contains("vm.max_map_count is " + LIMIT), e.getMessage());
      }
      shouldHaveNothingLeft();
    }
    assertEquals(5, failing, "each of two slabs and two regions failed");
  }

  @Test
  void shouldSayWhyAndLeaveNothingWhenThereIsNoRoomForTheNthMapping() throws Exception {
    Path file = file();
    for (failing = 1; ; failing++) {
      counts = 0;
      maps = MOST_CALLS;
      try {
        useAll(manager(Pages.size()), file);
        break;
      } catch (RegistrationException e) {
        assertEquals(RegistrationException.Kind.MAPPING, e.kind());
      }
      shouldHaveNothingLeft();
    }
    assertEquals(11, failing, "each of ten mappings failed");
  }

  /** The kernel itself has no room: the file is larger than the address space. */
  @Test
  void shouldSayWhyAndLeaveNothingWhenAFileCannotBeMapped() throws Exception {
    Path memory = Path.of("/dev/shm");
    Assumptions.assumeTrue(Files.isWritable(memory), "needs a file system for very large files");
    Path huge = Files.createTempFile(memory, "verbatim-", ".data");
    long part = 1L << 45;
    try {
      try (RandomAccessFile sparse = new RandomAccessFile(huge.toFile(), "rw")) {
        sparse.setLength(5 * part);
      }
      MemoryManager manager = manager(part);
      long descriptors = descriptors();
      RegistrationException e =
          assertThrows(
              RegistrationException.class,
              () -> manager.registerFile(huge, 5 * part, FilePinMode.READ_ONLY_MAPPING));

      assertEquals(RegistrationException.Kind.MAPPING, e.kind());
      assertTrue(e.getMessage().contains("ENOMEM"), e.getMessage());
      assertTrue(counters.mappings.get() == 0, "the parts before are unmapped");
      assertEquals(0, mappingsOf(huge));
      assertEquals(descriptors, descriptors());
      // Java collects all garbage for each such failure: not again within a second.
      Path small = file();
      assertThrows(
          RegistrationException.class,
          () -> manager.registerFile(small, 1, FilePinMode.READ_ONLY_MAPPING));
      now += 1_000_000_000;
      manager.registerFile(small, 1, FilePinMode.READ_ONLY_MAPPING).forEach(MemoryRegion::close);
    } finally {
      Files.delete(huge);
    }
  }

  private static long mappingsOf(Path file) throws IOException {
    try (Stream<String> lines = Files.lines(Path.of("/proc/self/maps"))) {
      return lines.filter(line -> line.contains(file.toString())).count();
    }
  }

  private static long descriptors() throws IOException {
    try (Stream<Path> all = Files.list(Path.of("/proc/self/fd"))) {
      return all.count();
    }
  }

  /** At the limit, a mapping in the middle of a merged one cannot be cut out. */
  @ParameterizedTest
  @ValueSource(ints = {1, 3})
  void shouldGiveTheMemoryBackAtOnceAndTheAddressesLaterWhenTheKernelCannotUnmap(int stuck)
      throws Exception {
    MemoryManager manager = manager(-1);
    keeps = true;
    for (int i = 0; i < stuck; i++) {
      manager.allocate(1).close();
    }
    assertEquals(stuck, counters.mappings.get());
    assertEquals(
        stuck, calls.stream().filter(("advise " + PosixConstants.MADV_DONTNEED)::equals).count());
    keeps = false;
    manager.allocate(1).close();
    assertEquals(stuck + 1, calls.stream().filter("unmap"::equals).count());
  }
}
