package dev.verbatim.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.ArgumentMatchers.eq;
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import dev.verbatim.verbs.CmEventType;
import dev.verbatim.verbs.VerbsConstants;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.mockito.ArgumentCaptor;

class EndpointLinkTest {
  /** Each side's own concerns its own requests: the peer cannot set it for both. */
  @Test
  void shouldSetTheTimeoutOfTheAcceptingSideToo() throws Exception {
    Fabric fabric = new Fabric(new TransportConfig());
    EndpointGroup group = mock(EndpointGroup.class);
    when(group.config()).thenReturn(new EndpointConfig().peerTimeout(Duration.ofSeconds(60)));
    when(group.port()).thenReturn(fabric.port);
    RdmaEndpoint endpoint = mock(RdmaEndpoint.class);
    when(endpoint.limits()).thenReturn(new EndpointLimits(1, 1, 1, 1, 0, 1, 1 << 30, true));
    List<String> calls = new ArrayList<>();
    doAnswer(
            call -> {
              MemorySegment value = call.getArgument(3);
              calls.add("timeout " + value.get(ValueLayout.JAVA_BYTE, 0));
              return null;
            })
        .when(fabric.rdmaCm)
        .setOption(
            any(), anyInt(), eq(VerbsConstants.RDMA_OPTION_ID_ACK_TIMEOUT), any(), anyLong());
    doAnswer(call -> calls.add("accept")).when(fabric.rdmaCm).accept(any(), any());
    MemorySegment id = fabric.newId();
    CmEndpoint cm = fabric.endpoints.adopt(id, (_, _) -> {});
    CmEvent asks =
        new CmEvent(CmEventType.CONNECT_REQUEST, id, MemorySegment.NULL, 0, new byte[0], 1, 1);

    new EndpointLink(group, endpoint, System.nanoTime()).accept(cm, asks, new byte[0]);

    assertEquals(List.of("timeout 20", "accept"), calls);
  }

  /** Memory that is used up, for example: an endpoint that does not end is never closed. */
  @ParameterizedTest
  @ValueSource(strings = {"disconnect", "destroyQp", "destroyId"})
  void shouldEndWhenAStepOfTheEndThrowsAnError(String step) throws Exception {
    Fabric fabric = new Fabric(new TransportConfig());
    EndpointGroup group = mock(EndpointGroup.class);
    when(group.config()).thenReturn(new EndpointConfig());
    when(group.port()).thenReturn(fabric.port);
    when(group.counters()).thenReturn(fabric.counters);
    doAnswer(
            call -> {
              call.<Runnable>getArgument(0).run();
              return null;
            })
        .when(group)
        .afterCompletions(any());
    RdmaEndpoint endpoint = mock(RdmaEndpoint.class);
    when(endpoint.limits()).thenReturn(new EndpointLimits(1, 1, 1, 1, 0, 1, 1 << 30, true));
    CmEndpoint cm = fabric.endpoints.adopt(fabric.newId(), (_, _) -> {});
    CmEvent asks =
        new CmEvent(CmEventType.CONNECT_REQUEST, cm.id(), MemorySegment.NULL, 0, new byte[0], 1, 1);
    EndpointLink link = new EndpointLink(group, endpoint, System.nanoTime());
    ArgumentCaptor<Runnable> tearDown = ArgumentCaptor.captor();
    verify(endpoint).onTearDown(tearDown.capture());
    link.accept(cm, asks, new byte[0]);
    when(endpoint.cause()).thenReturn("test");
    fabric.errors.put(step, new InternalError("test"));

    try {
      tearDown.getValue().run();
    } catch (InternalError e) {
      // The event thread goes on.
    }
    link.checkDeadline(System.nanoTime() + PeerConnection.TEAR_DOWN_AGAIN_NANOS);
    fabric.loop.doWork();

    verify(group).retire(link);
    fabric.assertNothingHeld();
  }
}
