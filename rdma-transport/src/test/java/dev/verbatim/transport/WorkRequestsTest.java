package dev.verbatim.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.verify;

import dev.verbatim.verbs.IbvQp;
import dev.verbatim.verbs.IbvSendWr;
import dev.verbatim.verbs.IbvSge;
import dev.verbatim.verbs.Verbs;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class WorkRequestsTest {
  private static final int INLINE = 16;

  private final Verbs verbs = mock(Verbs.class);
  private final Registrar registrar = mock(Registrar.class);
  private final Arena arena = Arena.ofShared();
  private final MemorySegment memory = arena.allocate(100);
  private final EndpointBuffer buffer =
      new EndpointBuffer(
          null,
          new MemoryRegion(
              registrar,
              new Registrar.Registration(MemorySegment.NULL, 1 << 20, 7, 8, 100),
              memory,
              arena),
          Set.of(),
          100);

  private WorkRequests requests;

  @BeforeEach
  void make() {
    requests = new WorkRequests(verbs, IbvQp.STRUCT.allocate(Arena.ofAuto()), 3, INLINE);
    memory.setString(0, "some words of a message");
    doAnswer(
            call -> {
              call.<Arena>getArgument(1).close();
              return null;
            })
        .when(registrar)
        .release(any(), any());
  }

  /** The processor copies it during the call, when another thread may unmap the buffer. */
  @Test
  void shouldNotHaveTheProviderReadABufferThatIsClosedMeanwhile() throws Exception {
    StringBuilder read = new StringBuilder();
    doAnswer(
            call -> {
              MemorySegment request = call.getArgument(1);
              buffer.close();
              assertEquals(1, IbvSendWr.NUM_SGE.get(request));
              MemorySegment entry = IbvSge.STRUCT.at(IbvSendWr.SG_LIST.get(request));
              long address = IbvSge.ADDR.get(entry);
              assertTrue(address < memory.address() || address >= memory.address() + 100);
              byte[] bytes = new byte[IbvSge.LENGTH.get(entry)];
              MemorySegment.copy(
                  MemorySegment.ofAddress(address).reinterpret(bytes.length),
                  0,
                  MemorySegment.ofArray(bytes),
                  0,
                  bytes.length);
              read.append(new String(bytes, StandardCharsets.US_ASCII));
              return null;
            })
        .when(verbs)
        .postSend(any(), any(), any());
    BufferSlice[] words = {buffer.slice(5, 5), buffer.slice(0, 4), buffer.slice(16, 7)};
    requests.postSend(1, WorkRequest.send(words));
    assertEquals("wordssomemessage", read.toString());
  }

  @Test
  void shouldNotPostWhenABufferIsClosed() throws Exception {
    WorkRequest within = WorkRequest.send(new BufferSlice[] {buffer.slice(0, INLINE)});
    WorkRequest beyond = WorkRequest.send(new BufferSlice[] {buffer.slice(0, INLINE + 1)});
    buffer.close();
    assertThrows(IllegalStateException.class, () -> requests.postSend(1, within));
    assertThrows(IllegalStateException.class, () -> requests.postSend(1, beyond));
    verify(verbs, never()).postSend(any(), any(), any());
  }

  @Test
  void shouldNameWhatTheDeviceReadsByItsAddressThere() throws Exception {
    doAnswer(
            call -> {
              MemorySegment entry =
                  IbvSge.STRUCT.at(IbvSendWr.SG_LIST.get(call.<MemorySegment>getArgument(1)));
              assertEquals((1 << 20) + 3, IbvSge.ADDR.get(entry));
              assertEquals(INLINE + 1, IbvSge.LENGTH.get(entry));
              assertEquals(7, IbvSge.LKEY.get(entry));
              return null;
            })
        .when(verbs)
        .postSend(any(), any(), any());
    requests.postSend(1, WorkRequest.send(new BufferSlice[] {buffer.slice(3, INLINE + 1)}));
    verify(verbs).postSend(any(), any(), any());
  }
}
