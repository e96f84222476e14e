package dev.verbatim.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.verbatim.device.DeviceListing;
import dev.verbatim.device.RdmaDevices;
import dev.verbatim.verbs.NativeLibraries.Loaded;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The real libraries on a machine without an RDMA device. */
class WithoutDeviceTest {
  private static Loaded libraries;

  @BeforeAll
  static void load() {
    assumeFalse(Files.exists(Path.of("/sys/class/infiniband")), "this machine has RDMA");
    assumeFalse(Files.exists(Path.of("/dev/infiniband")), "this machine has RDMA");
    NativeLibraries result = NativeLibraries.load();
    assumeTrue(result instanceof Loaded, () -> "real libraries are needed: " + result);
    libraries = (Loaded) result;
  }

  @Test
  void shouldListNothingWhenThereIsNoDevice() throws Exception {
    DeviceListing listing = new RdmaDevices(libraries.verbs()).list();
    assertEquals(new DeviceListing(List.of(), List.of()), listing);
  }

  @Test
  void shouldAnswerErrnoWhenThereIsNoRdmaCm() {
    VerbsException e =
        assertThrows(VerbsException.class, () -> libraries.rdmaCm().createEventChannel());
    assertEquals("rdma_create_event_channel", e.function());
    assertTrue(e.errno() == Errno.ENODEV || e.errno() == Errno.ENOENT, e.getMessage());
  }

  @Test
  void shouldThrowInsteadOfCrashWhenPointerIsNull() {
    Verbs verbs = libraries.verbs();
    MemorySegment none = MemorySegment.NULL;
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment wc = IbvWc.STRUCT.allocate(arena);
      MemorySegment badWr = arena.allocate(ValueLayout.ADDRESS);
      assertThrows(NullPointerException.class, () -> verbs.openDevice(none));
      assertThrows(NullPointerException.class, () -> verbs.allocPd(none));
      assertThrows(NullPointerException.class, () -> verbs.pollCq(none, 1, wc));
      assertThrows(NullPointerException.class, () -> verbs.postSend(none, none, badWr));
      assertThrows(NullPointerException.class, () -> verbs.destroyQp(none));
      assertThrows(NullPointerException.class, () -> libraries.rdmaCm().destroyId(none));
      assertThrows(NullPointerException.class, () -> libraries.rdmaCm().getCmEvent(none));
    }
  }
}
