package dev.verbatim.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class LibraryCheckTest {
  private final Arena arena = Arena.ofConfined();
  private final Verbs verbs = mock(Verbs.class);
  private MemorySegment device;
  private MemorySegment context;

  @BeforeEach
  void openDevice() {
    device = IbvDevice.STRUCT.allocate(arena);
    IbvDevice.NAME.get(device).setString(0, "rxe0");
    context = IbvContext.STRUCT.allocate(arena);
    IbvContext.DEVICE.set(context, device);
    MemorySegment function = MemorySegment.ofAddress(0x1000);
    IbvContext.OPS_POLL_CQ.set(context, function);
    IbvContext.OPS_REQ_NOTIFY_CQ.set(context, function);
    IbvContext.OPS_POST_SEND.set(context, function);
    IbvContext.OPS_POST_RECV.set(context, function);
    IbvContext.ASYNC_FD.set(context, 5);
    IbvContext.NUM_COMP_VECTORS.set(context, 2);
    when(verbs.getDeviceName(any())).thenReturn("rxe0");
  }

  @AfterEach
  void close() {
    arena.close();
  }

  @Test
  void shouldFindNothingWhenDeviceIsAsExpected() {
    assertEquals(Optional.empty(), LibraryCheck.problem(verbs, device, context));
  }

  @Test
  void shouldNameFieldWhenItIsImplausible() {
    assertProblem("device", c -> IbvContext.DEVICE.set(c, MemorySegment.NULL));
    assertProblem("ops", c -> IbvContext.OPS_POST_SEND.set(c, MemorySegment.NULL));
    assertProblem("async_fd", c -> IbvContext.ASYNC_FD.set(c, -1));
    assertProblem("num_comp_vectors", c -> IbvContext.NUM_COMP_VECTORS.set(c, 0x7f001234));
    assertProblem("name", c -> IbvDevice.NAME.get(device).setString(0, "xe0"));
  }

  private void assertProblem(String field, Consumer<MemorySegment> damage) {
    openDevice();
    damage.accept(context);
    String problem = LibraryCheck.problem(verbs, device, context).orElseThrow();
    assertTrue(problem.contains(field) && problem.contains("rxe0"), problem);
  }
}
