package dev.verbatim.it.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.verbatim.it.transport.PortControl.StandInFaults;
import dev.verbatim.transport.FilePinMode;
import dev.verbatim.transport.MemoryRegion;
import dev.verbatim.transport.OpenResult;
import dev.verbatim.transport.PeerConnection;
import dev.verbatim.transport.RdmaTransport;
import dev.verbatim.transport.RegistrationException;
import dev.verbatim.transport.UnavailableReason;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Registering memory and files, and what happens when the device will not. */
class MemoryDeviceTest extends DeviceTest {
  @TempDir private Path directory;

  private static RegistrationException.Kind failureOf(
      org.junit.jupiter.api.function.Executable registration) {
    return assertThrows(RegistrationException.class, registration).kind();
  }

  @Test
  void shouldServeAFileInSeveralRegionsWhenTheDeviceHasASmallLimit() throws Exception {
    StandInFaults.assumePresent();
    Path file = directory.resolve("shuffle.data");
    long length = 5_000_001;
    Pattern.write(file, length);
    RegionServer.Child server =
        killedAfterwards(
            RegionServer.Child.startWithFile(
                "server", file, Map.of("VERBATIM_STANDIN_LIMITS", "max_mr_size=1050000")));
    RdmaTransport reader = open("reader");
    PeerConnection connection = Transports.connect(reader, server.served().peer());
    long step = server.regions().getFirst().length();
    assertEquals(1_048_576, step, "whole pages");
    assertEquals(5, server.regions().size());
    long position = 0;
    for (RegionServer.Served region : server.regions()) {
      assertEquals(Math.min(step, length - position), region.length());
      long base = region.iova() - position;
      assertReads(reader, connection, base, region.rkey(), position, region.length());
      position += region.length();
    }
    assertEquals(length, position);
  }

  @Test
  void shouldServeAFileToAnotherProcess() throws Exception {
    Path file = directory.resolve("shuffle.data");
    Pattern.write(file, 300_001);
    RegionServer.Child server =
        killedAfterwards(RegionServer.Child.startWithFile("server", file, Map.of()));
    RdmaTransport reader = open("reader");
    PeerConnection connection = Transports.connect(reader, server.served().peer());
    RegionServer.Served region = server.served();
    assertReads(reader, connection, region, 0, 300_001);
    assertReads(reader, connection, region, 4095, 2);
  }

  @Test
  void shouldTellAsManyMappingsAsTheSystemDoes() throws Exception {
    RdmaTransport server = open("server");
    int own = server.counters().mappings();
    Path file = directory.resolve("shuffle.data");
    Pattern.write(file, 100_000);
    List<MemoryRegion> regions = new ArrayList<>();
    for (int i = 1; i <= 3; i++) {
      regions.addAll(server.registerFile(file, 100_000, server.probe(directory)));
      assertEquals(i, Holdings.mappingsOf(file));
      assertEquals(own + i, server.counters().mappings());
    }
    server.allocate(1);
    assertEquals(own + 4, server.counters().mappings());
    regions.getFirst().close();
    assertEquals(2, Holdings.mappingsOf(file));
    assertEquals(own + 3, server.counters().mappings());
    server.close();
    assertEquals(0, Holdings.mappingsOf(file));
    assertEquals(0, server.counters().mappings());
  }

  @Test
  void shouldSayFileWhenItIsMissingOrShort() throws Exception {
    RdmaTransport transport = open("server");
    Path missing = directory.resolve("missing");
    Path small = Files.write(directory.resolve("short"), new byte[10]);
    FilePinMode mode = FilePinMode.READ_ONLY_MAPPING;
    assertEquals(
        RegistrationException.Kind.FILE, failureOf(() -> transport.registerFile(missing, 1, mode)));
    assertEquals(
        RegistrationException.Kind.FILE, failureOf(() -> transport.registerFile(small, 11, mode)));
    assertEquals(1, transport.counters().memoryRegions());
  }

  @Test
  void shouldFindTheModeThatWorksAndLeaveNoFile() throws Exception {
    StandInFaults.assumePresent();
    RdmaTransport transport = open("server");
    assertEquals(FilePinMode.READ_ONLY_MAPPING, transport.probe(directory));
    StandInFaults.set("reg_mr errno=EFAULT access=4 nth=1");
    assertEquals(FilePinMode.WRITABLE_MAPPING, transport.probe(directory));
    StandInFaults.set("reg_mr errno=EFAULT access=4");
    assertEquals(FilePinMode.COPY, transport.probe(directory));
    assertEquals(FilePinMode.COPY, transport.probe(directory.resolve("missing")));
    try (Stream<Path> left = Files.list(directory)) {
      assertEquals(List.of(), left.toList());
    }
    assertEquals(1, transport.counters().memoryRegions());
  }

  @ParameterizedTest
  @CsvSource({"EPERM, MEMLOCK", "EFAULT, NOT_PINNABLE", "EINVAL, NOT_PINNABLE", "EIO, DEVICE"})
  void shouldSayWhyAndGoOnWhenTheThirdRegistrationFails(
      String errno, RegistrationException.Kind kind) throws Exception {
    StandInFaults.assumePresent();
    RdmaTransport server = open("server");
    RdmaTransport reader = open("reader");
    StandInFaults.set("reg_mr errno=" + errno + " access=4 nth=3");
    patternRegion(server, 4096);
    MemoryRegion second = patternRegion(server, 10_000);
    RegistrationException failure =
        assertThrows(RegistrationException.class, () -> server.allocate(4096));
    assertEquals(kind, failure.kind());
    assertTrue(failure.getMessage().contains(errno), failure.getMessage());
    assertEquals(3, server.counters().memoryRegions());
    PeerConnection connection = Transports.connect(reader, Transports.address("server", server));
    assertReads(reader, connection, second, 0, 10_000);
    assertReads(reader, connection, patternRegion(server, 4096), 0, 4096);
  }

  @Test
  void shouldBlameTheLimitOfLockedMemoryOnlyWhereThereIsOne() throws Exception {
    StandInFaults.assumePresent();
    RdmaTransport server = open("server");
    StandInFaults.set("reg_mr errno=ENOMEM access=4");
    RegistrationException failure =
        assertThrows(RegistrationException.class, () -> server.allocate(4096));
    boolean blamed = failure.kind() == RegistrationException.Kind.MEMLOCK;
    assertEquals(isLockedMemoryLimited(), blamed, failure.getMessage());
    assertEquals(blamed, failure.getMessage().contains("RLIMIT_MEMLOCK"));
  }

  private static boolean isLockedMemoryLimited() throws Exception {
    boolean unlimited =
        Files.readAllLines(Path.of("/proc/self/limits")).stream()
            .anyMatch(line -> line.matches("Max locked memory +unlimited .*"));
    long capabilities =
        Files.readAllLines(Path.of("/proc/self/status")).stream()
            .filter(line -> line.startsWith("CapEff:"))
            .mapToLong(line -> Long.parseUnsignedLong(line.substring(7).trim(), 16))
            .findFirst()
            .orElseThrow();
    boolean mayLock = (capabilities & 1 << 14) != 0; // CAP_IPC_LOCK
    return !unlimited && !mayLock;
  }

  @Test
  void shouldKeepToTheSlabsItHasWhenThePoolCannotGrow() throws Exception {
    StandInFaults.assumePresent();
    RdmaTransport reader = open("reader");
    StandInFaults.set("reg_mr errno=ENOMEM access=1");
    var whole = reader.tryAcquire(4 << 20).orElseThrow();
    assertTrue(reader.tryAcquire(1).isEmpty());
    StandInFaults.set("");
    var more = reader.tryAcquire(1).orElseThrow();
    more.release();
    whole.release();
  }

  /** Each step of opening fails once; nothing is left, and the next opening works. */
  @ParameterizedTest
  @CsvSource({
    "alloc_pd errno=ENOMEM, DEVICE_ERROR",
    "create_comp_channel errno=EMFILE, DEVICE_ERROR",
    "create_cq errno=EPERM, MEMLOCK",
    "create_cq errno=EINVAL, DEVICE_ERROR",
    "reg_mr errno=EPERM, MEMLOCK",
    "reg_mr errno=EIO, DEVICE_ERROR",
    "listen errno=EADDRINUSE, DEVICE_ERROR",
    "bind_addr errno=ENODEV, ADDRESS_NOT_RDMA",
    "bind_addr errno=ENOMEM, DEVICE_ERROR",
    "bind_addr errno=EMFILE, DEVICE_ERROR",
    "open_device errno=EACCES, NO_PERMISSION",
    "open_device errno=EIO, DEVICE_ERROR",
    "open_device errno=EMFILE, DEVICE_ERROR",
    "get_device_list errno=EACCES, NO_PERMISSION",
    "port down, PORT_NOT_ACTIVE"
  })
  void shouldAnswerWithAReasonWhenOpeningFails(String fault, UnavailableReason reason)
      throws Exception {
    StandInFaults.assumePresent();
    StandInFaults.set(fault);
    switch (RdmaTransport.open(Transports.config("server"))) {
      case OpenResult.Unavailable none -> {
        assertEquals(reason, none.reason(), none.seen());
        if (fault.contains("errno=")) {
          assertTrue(none.seen().contains(fault.replaceAll(".*errno=", "")), none.seen());
        }
        assertTrue(!none.seen().isEmpty() && !none.remedy().isEmpty());
      }
      case OpenResult.Opened opened -> {
        opened.transport().close();
        throw new AssertionError("opened in spite of " + fault);
      }
    }
    StandInFaults.set("");
    open("server");
  }

  @Test
  void shouldAnswerWithAReasonWhenTheListenPortIsTaken() throws Exception {
    RdmaTransport first = open("first");
    int port = first.info().address().getPort();
    switch (RdmaTransport.open(Transports.config("second").listenPort(port))) {
      case OpenResult.Unavailable none -> {
        assertEquals(UnavailableReason.DEVICE_ERROR, none.reason());
        assertTrue(none.remedy().contains("listen port"), none.remedy());
      }
      case OpenResult.Opened opened -> {
        opened.transport().close();
        throw new AssertionError("two listeners have port " + port);
      }
    }
  }
}
