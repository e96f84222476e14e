package dev.verbatim.transport;

import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.ArgumentMatchers.contains;
import static org.mockito.ArgumentMatchers.eq;
import static org.mockito.Mockito.doThrow;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import dev.verbatim.verbs.IbvWc;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;

class EndpointPollerTest {
  /** Each completion is polled once: one that is not told then is lost. */
  @Test
  void shouldTellAllOthersWhenAnErrorIsThrownAtOne() throws Exception {
    Fabric fabric = new Fabric(new TransportConfig());
    SendQueueTable<RdmaEndpoint> table = new SendQueueTable<>(2);
    EndpointPoller poller = new EndpointPoller(fabric.port, table, new EndpointConfig(), _ -> {});
    RdmaEndpoint broken = mock(RdmaEndpoint.class);
    RdmaEndpoint sound = mock(RdmaEndpoint.class);
    int first = table.reserve();
    int second = table.reserve();
    table.set(first, broken);
    table.set(second, sound);
    doThrow(new InternalError("test")).when(broken).completed(anyInt(), anyInt(), any());
    when(fabric.verbs.pollCq(any(), anyInt(), any()))
        .thenAnswer(
            call -> {
              MemorySegment completions = call.getArgument(2);
              IbvWc.WR_ID.set(completions, 0, (long) first << 32);
              IbvWc.WR_ID.set(completions, 1, (long) second << 32 | 7);
              return 2;
            })
        .thenReturn(0);

    poller.doWork();

    verify(sound).completed(eq(second), eq(7), any());
    verify(broken).fail(contains("InternalError"));
  }
}
