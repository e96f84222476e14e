package dev.verbatim.transport;

import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class EndpointGroupTest {
  @Test
  void shouldFailToConnectWhenTheEventThreadHasEndedMeanwhile() throws Exception {
    Fabric fabric = new Fabric(new TransportConfig());
    when(fabric.posix.poll(any(), anyInt(), anyInt()))
        .thenAnswer(
            call -> {
              Thread.sleep(10);
              return 0;
            });
    EndpointGroups owner = mock(EndpointGroups.class);
    CompletableFuture<EndpointGroup> opened = new CompletableFuture<>();
    doAnswer(
            call -> { // the loop ends just before: the task is never run
              EndpointGroup group = opened.get();
              Thread.ofPlatform().daemon(true).start(group::close);
              while (!group.isClosed()) {
                Thread.onSpinWait();
              }
              return null;
            })
        .doAnswer(
            call -> { // closing itself does not hang here
              call.<Runnable>getArgument(0).run();
              return null;
            })
        .when(owner)
        .execute(any());
    EndpointGroup group = // not before: its thread calls its owner
        new EndpointGroup(
            owner,
            new EndpointConfig(),
            null,
            fabric.port,
            mock(Registrar.class),
            mock(MemoryManager.class));
    opened.complete(group);
    CompletableFuture<RdmaEndpoint> connecting =
        group.connect(Fabric.OWN, new byte[0], (_, _) -> {});
    ExecutionException closed =
        assertThrows(ExecutionException.class, () -> connecting.get(10, TimeUnit.SECONDS));
    assertTrue(
        assertInstanceOf(ConnectException.class, closed.getCause())
            .getMessage()
            .contains("closed"));
  }
}
