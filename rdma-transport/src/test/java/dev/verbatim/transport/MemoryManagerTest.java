package dev.verbatim.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.doThrow;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import dev.verbatim.verbs.Errno;
import dev.verbatim.verbs.IbvMr;
import dev.verbatim.verbs.Posix;
import dev.verbatim.verbs.PosixConstants;
import dev.verbatim.verbs.Rlimit;
import dev.verbatim.verbs.TransportType;
import dev.verbatim.verbs.Verbs;
import dev.verbatim.verbs.VerbsConstants;
import dev.verbatim.verbs.VerbsException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.function.IntPredicate;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class MemoryManagerTest {
  private final Verbs verbs = mock(Verbs.class);
  private final Posix posix = mock(Posix.class);
  private final Counters counters = new Counters();
  private RegistrationRules rules =
      new RegistrationRules(VerbsConstants.IBV_ACCESS_LOCAL_WRITE, true);
  private final List<String> calls = new ArrayList<>();
  private int registrations;
  private int errno;
  private IntPredicate fails = nth -> false;
  private boolean outOfReach;

  @TempDir Path directory;

  @BeforeEach
  void stub() throws VerbsException {
    when(verbs.regMrIova(any(), any(), anyLong(), anyLong(), anyInt()))
        .thenAnswer(call -> register(call.getArgument(3), call.getArgument(4)));
    when(verbs.regMr(any(), any(), anyLong(), anyInt()))
        .thenAnswer(call -> register(0, call.getArgument(3)));
    doAnswer(call -> calls.add("deregister")).when(verbs).deregMr(any());
    when(posix.mmap(anyLong(), anyInt(), anyInt(), anyInt(), anyLong()))
        .thenAnswer(
            call -> {
              if ((call.<Integer>getArgument(2) & PosixConstants.MAP_HUGETLB) != 0) {
                throw new VerbsException("mmap", Errno.ENOMEM, "");
              }
              return Arena.global().allocate(call.<Long>getArgument(0), Pages.size());
            });
    doAnswer(call -> calls.add("unmap")).when(posix).munmap(any());
    doAnswer(
            call -> {
              Rlimit.RLIM_CUR.set(call.<MemorySegment>getArgument(1), 65_536);
              return null;
            })
        .when(posix)
        .getrlimit(anyInt(), any());
  }

  private MemorySegment register(long iova, int access) throws VerbsException {
    registrations++;
    if (fails.test(registrations)) {
      throw new VerbsException("ibv_reg_mr_iova", errno, "length=4096");
    }
    calls.add("register " + access);
    MemorySegment mr = IbvMr.STRUCT.allocate(Arena.ofAuto());
    IbvMr.RKEY.set(mr, registrations);
    return mr;
  }

  private Registrar registrar(long mostRegionBytes) {
    return new Registrar(
        verbs,
        MemorySegment.NULL,
        rules,
        mostRegionBytes,
        new Memlock(posix),
        counters,
        () -> outOfReach);
  }

  private MemoryManager manager(long mostRegionBytes) {
    return manager(registrar(mostRegionBytes));
  }

  private MemoryManager manager(Registrar registrar) {
    return new MemoryManager(
        new Mappings(posix, MapRoom.ofThisProcess(posix), counters),
        registrar,
        true,
        new NodeMemory(posix, -1));
  }

  private Path file(int bytes) throws Exception {
    return Files.write(directory.resolve("data"), new byte[bytes]);
  }

  @Test
  void shouldLetPeersOnlyReadRegionsAndOnlyTheDeviceWriteSlabs() throws Exception {
    MemoryManager manager = manager(-1);
    manager.allocate(1).close();
    manager.registerFile(file(10), 10, FilePinMode.READ_ONLY_MAPPING).getFirst().close();
    manager.slab(Pages.size()).close();
    int read = VerbsConstants.IBV_ACCESS_REMOTE_READ;
    int write = VerbsConstants.IBV_ACCESS_LOCAL_WRITE;
    assertEquals(
        List.of(
            "register " + read,
            "deregister",
            "unmap",
            "register " + read,
            "deregister",
            "register " + write,
            "deregister",
            "unmap"),
        calls);
    assertEquals(0, counters.memoryRegions.get());
    assertEquals(0, counters.registeredBytes.get());
    assertEquals(0, counters.mappings.get());
  }

  /**
   * What a READ brings is there a write of the peer's, and siw knows no address but the memory's.
   */
  @Test
  void shouldLetPeersWriteSlabsAloneWhenTheDeviceIsSoftwareIwarp() throws Exception {
    rules = RegistrationRules.of(TransportType.IWARP, 0x626d74);
    MemoryManager manager = manager(-1);
    MemoryRegion region = manager.allocate(1);
    assertEquals(region.segment().address(), region.iova());
    manager.slab(Pages.size());
    int read = VerbsConstants.IBV_ACCESS_REMOTE_READ;
    int write = VerbsConstants.IBV_ACCESS_LOCAL_WRITE | VerbsConstants.IBV_ACCESS_REMOTE_WRITE;
    assertEquals(List.of("register " + read, "register " + write), calls);
  }

  @Test
  void shouldHideAddressesOfOtherIwarpDevicesAndKeepPeersFromWritingWhereItIsNoIwarp() {
    assertTrue(RegistrationRules.of(TransportType.IWARP, 0x1425).anyIova());
    assertEquals(
        VerbsConstants.IBV_ACCESS_LOCAL_WRITE,
        RegistrationRules.of(TransportType.IB, 0x626d74).sinkAccess());
    assertTrue(RegistrationRules.of(TransportType.IB, 0x626d74).anyIova());
  }

  /** Addresses for peers: never the virtual one, never twice, no wrap, same place in the page. */
  @Test
  void shouldHideAddressesBehindRandomBases() throws Exception {
    MemoryManager manager = manager(-1);
    Set<Long> seen = new HashSet<>();
    for (int i = 0; i < 500; i++) {
      MemoryRegion region = manager.allocate(3 * Pages.size());
      assertTrue(seen.add(region.iova()));
      assertNotEquals(region.segment().address(), region.iova());
      assertEquals(
          region.segment().address() % Pages.size(),
          Long.remainderUnsigned(region.iova(), Pages.size()));
      assertTrue(Long.compareUnsigned(region.iova() + region.length(), region.iova()) > 0);
    }
    assertTrue(seen.stream().anyMatch(iova -> iova < 0), "all 64 bits are used");
  }

  /** All bits but those that the device needs for large pages are drawn, each by itself. */
  @Test
  void shouldDrawEveryBitOfAnAddress() throws Exception {
    MemoryManager manager = manager(-1);
    int draws = 4000;
    int[] ones = new int[64];
    for (int i = 0; i < draws; i++) {
      try (MemoryRegion region = manager.allocate(1)) {
        for (int bit = 0; bit < 64; bit++) {
          ones[bit] += (int) (region.iova() >>> bit & 1);
        }
      }
    }
    for (int bit = 21; bit < 64; bit++) {
      // The standard deviation is 32: ten of them are never met by chance.
      assertEquals(draws / 2, ones[bit], 320, "bit " + bit);
    }
  }

  @Test
  void shouldSplitAFileAtTheDevicesLongestRegion() throws Exception {
    long page = Pages.size();
    Path file = directory.resolve("data");
    byte[] content = new byte[(int) (5 * page + 7)];
    for (int i = 0; i < content.length; i++) {
      content[i] = (byte) (i / page);
    }
    Files.write(file, content);
    List<MemoryRegion> regions =
        manager(2 * page + 100).registerFile(file, content.length, FilePinMode.READ_ONLY_MAPPING);
    assertEquals(
        List.of(2 * page, 2 * page, page + 7), regions.stream().map(MemoryRegion::length).toList());
    for (int i = 0; i < 3; i++) {
      assertEquals(2 * i, regions.get(i).segment().get(ValueLayout.JAVA_BYTE, 0));
    }
    assertEquals(3, counters.mappings.get());
    regions.forEach(MemoryRegion::close);
    assertEquals(0, counters.memoryRegions.get());
    assertEquals(0, counters.mappings.get());
  }

  @Test
  void shouldLeaveNothingWhenTheNthRegistrationFails() throws Exception {
    errno = Errno.ENOMEM;
    fails = nth -> nth == 3;
    Path file = file((int) (4 * Pages.size()));
    MemoryManager manager = manager(Pages.size());
    assertThrows(
        RegistrationException.class,
        () -> manager.registerFile(file, 4 * Pages.size(), FilePinMode.READ_ONLY_MAPPING));
    assertEquals(0, counters.memoryRegions.get());
    assertEquals(0, counters.mappings.get());
    assertEquals(
        4, manager.registerFile(file, 4 * Pages.size(), FilePinMode.READ_ONLY_MAPPING).size());
  }

  @ParameterizedTest
  @CsvSource({
    "1, MEMLOCK",
    "14, NOT_PINNABLE",
    "22, NOT_PINNABLE",
    "95, NOT_PINNABLE",
    "28, DEVICE",
    "5, DEVICE"
  })
  void shouldSayWhyRegisteringFailed(int number, RegistrationException.Kind kind) {
    errno = number;
    fails = nth -> true;
    RegistrationException e =
        assertThrows(RegistrationException.class, () -> manager(-1).allocate(1));
    assertEquals(kind, e.kind());
    assertTrue(e.getMessage().contains(Errno.name(number)), e.getMessage());
    if (kind == RegistrationException.Kind.MEMLOCK) {
      assertTrue(e.getMessage().contains("RLIMIT_MEMLOCK of this process"), e.getMessage());
      assertTrue(e.getMessage().contains("65536 bytes"), e.getMessage());
    }
    assertEquals(List.of("unmap"), calls);
  }

  @Test
  void shouldSayWhyAFileCannotBeMapped() throws Exception {
    MemoryManager manager = manager(-1);
    Path shorter = file(10);
    assertEquals(
        RegistrationException.Kind.FILE,
        assertThrows(
                RegistrationException.class,
                () -> manager.registerFile(shorter, 11, FilePinMode.READ_ONLY_MAPPING))
            .kind());
    Path absent = directory.resolve("absent");
    assertEquals(
        RegistrationException.Kind.FILE,
        assertThrows(
                RegistrationException.class,
                () -> manager.registerFile(absent, 1, FilePinMode.READ_ONLY_MAPPING))
            .kind());
    assertThrows(
        IllegalArgumentException.class, () -> manager.registerFile(shorter, 1, FilePinMode.COPY));
    assertThrows(
        IllegalArgumentException.class,
        () -> manager.registerFile(shorter, 0, FilePinMode.READ_ONLY_MAPPING));
  }

  @ParameterizedTest
  @CsvSource({"0, READ_ONLY_MAPPING", "1, WRITABLE_MAPPING", "2, COPY"})
  void shouldFindByTryingHowFilesCanBePinned(int failures, FilePinMode expected) throws Exception {
    errno = Errno.EFAULT;
    fails = nth -> nth <= failures;
    assertEquals(expected, manager(-1).probe(directory));
    assertEquals(0, counters.memoryRegions.get());
    try (var left = Files.list(directory)) {
      assertEquals(0, left.count());
    }
  }

  @Test
  void shouldAskToCopyWhenTheDirectoryCannotBeWritten() {
    assertEquals(FilePinMode.COPY, manager(-1).probe(directory.resolve("absent")));
  }

  @Test
  void shouldThrowInsteadOfCrashingAfterClose() throws Exception {
    MemoryRegion region =
        manager(-1).registerFile(file(10), 10, FilePinMode.READ_ONLY_MAPPING).getFirst();
    MemorySegment memory = region.segment();
    assertTrue(memory.isReadOnly());
    region.close();
    region.close();
    assertThrows(IllegalStateException.class, region::segment);
    assertThrows(IllegalStateException.class, () -> memory.get(ValueLayout.JAVA_BYTE, 0));
    assertEquals(1, calls.stream().filter("deregister"::equals).count());
  }

  @Test
  void shouldKeepTheMappingWhenTheDeviceKeepsTheRegion() throws Exception {
    doThrow(new VerbsException("ibv_dereg_mr", Errno.EBUSY, "")).when(verbs).deregMr(any());
    MemoryRegion region = manager(-1).allocate(1);
    region.close();
    assertFalse(calls.contains("unmap"));
    assertEquals(1, counters.mappings.get());
  }

  /** A device that is lost answers every call with an error. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void shouldUnmapWhatALostDeviceKeepsOnceItIsOutOfReach(boolean byTheLastClose) throws Exception {
    doThrow(new VerbsException("ibv_dereg_mr", Errno.EIO, "")).when(verbs).deregMr(any());
    Registrar registrar = registrar(-1);
    MemoryManager manager = manager(registrar);
    MemoryRegion first = manager.allocate(1);
    Slab slab = manager.slab(Pages.size());
    MemoryRegion last = manager.registerFile(file(10), 10, FilePinMode.READ_ONLY_MAPPING).get(0);
    first.close();
    slab.close();
    assertFalse(calls.contains("unmap"), "queue pairs are still there");
    assertEquals(3, counters.mappings.get());

    outOfReach = true;
    if (byTheLastClose) {
      registrar.close();
    } else {
      last.close();
    }

    assertEquals(2, calls.stream().filter("unmap"::equals).count());
    assertEquals(0, counters.mappings.get());
    assertEquals(0, counters.memoryRegions.get());
    assertEquals(0, counters.registeredBytes.get());
    registrar.close();
    assertEquals(0, counters.mappings.get(), "once");
  }

  @Test
  void shouldNotBeClosedBeforeARegionThatAnotherThreadIsJustClosing() throws Exception {
    CountDownLatch deregistering = new CountDownLatch(1);
    CountDownLatch deviceAnswers = new CountDownLatch(1);
    doAnswer(
            call -> {
              deregistering.countDown();
              deviceAnswers.await();
              return null;
            })
        .when(verbs)
        .deregMr(any());
    Registrar registrar = registrar(-1);
    MemoryManager manager = manager(registrar);
    MemoryRegion region = manager.allocate(1);
    Thread closer = Thread.ofPlatform().start(region::close);
    deregistering.await();
    Thread all = Thread.ofPlatform().start(registrar::close);
    assertFalse(all.join(Duration.ofMillis(100)));
    deviceAnswers.countDown();
    all.join();
    closer.join();
    assertEquals(0, counters.memoryRegions.get());
    assertThrows(IllegalStateException.class, () -> manager.allocate(1));
    assertEquals(0, counters.mappings.get());
  }

  /** A container may be allowed none of the huge pages that its host has reserved. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void shouldUseOrdinaryPagesWhenReservedHugeOnesCannotBePinned(boolean slab) throws Exception {
    long bytes = Pages.hugeSize();
    Assumptions.assumeTrue(bytes > 0, "a kernel with huge pages");
    List<Integer> flags = new ArrayList<>();
    when(posix.mmap(anyLong(), anyInt(), anyInt(), anyInt(), anyLong()))
        .thenAnswer(
            call -> {
              flags.add(call.<Integer>getArgument(2) & PosixConstants.MAP_HUGETLB);
              return Arena.global().allocate(call.<Long>getArgument(0), Pages.size());
            });
    errno = Errno.EFAULT;
    fails = nth -> nth == 1;
    MemoryManager manager = manager(-1);

    if (slab) {
      manager.slab(bytes).close();
    } else {
      manager.allocate(bytes).close();
    }
    manager.slab(bytes).close();

    assertEquals(List.of(PosixConstants.MAP_HUGETLB, 0, 0), flags, "not tried again");
    assertEquals(3, calls.stream().filter("unmap"::equals).count());
    assertEquals(0, counters.mappings.get());
  }

  @Test
  void shouldFailWhenOrdinaryPagesCannotBePinnedEither() {
    errno = Errno.EFAULT;
    fails = nth -> true;
    MemoryManager manager = manager(-1);

    RegistrationException e =
        assertThrows(RegistrationException.class, () -> manager.slab(Pages.size()));

    assertEquals(RegistrationException.Kind.NOT_PINNABLE, e.kind());
    assertEquals(0, counters.mappings.get());
  }
}
