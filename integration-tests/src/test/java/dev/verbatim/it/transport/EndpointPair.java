package dev.verbatim.it.transport;

import dev.verbatim.transport.BufferSlice;
import dev.verbatim.transport.EndpointGroup;
import dev.verbatim.transport.RdmaEndpoint;
import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** Two connected endpoints and what they have told. */
record EndpointPair(
    RdmaEndpoint near, EndpointRecorder nearSays, RdmaEndpoint far, EndpointRecorder farSays) {

  static EndpointPair connect(EndpointGroup from, EndpointGroup to) throws Exception {
    return connect(from, to, _ -> {});
  }

  /**
   * @param prepare posts receives at the far end before anything can come
   */
  static EndpointPair connect(EndpointGroup from, EndpointGroup to, Consumer<RdmaEndpoint> prepare)
      throws Exception {
    return connect(from, new EndpointRecorder(), to, new EndpointRecorder(prepare));
  }

  static EndpointPair connect(
      EndpointGroup from, EndpointRecorder nearSays, EndpointGroup to, EndpointRecorder farSays)
      throws Exception {
    CompletableFuture<RdmaEndpoint> far = new CompletableFuture<>();
    InetSocketAddress address =
        to.listen(
            0,
            request ->
                request
                    .accept(farSays)
                    .whenComplete(
                        (endpoint, failure) -> {
                          if (failure == null) {
                            far.complete(endpoint);
                          } else {
                            far.completeExceptionally(failure);
                          }
                        }));
    RdmaEndpoint near = from.connect(address, new byte[0], nearSays).get(60, TimeUnit.SECONDS);
    return new EndpointPair(near, nearSays, far.get(60, TimeUnit.SECONDS), farSays);
  }

  /** As {@link RdmaEndpoint#receive} where nothing is expected to fail. */
  static void receive(RdmaEndpoint endpoint, long id, BufferSlice... room) {
    try {
      endpoint.receive(id, room);
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }
}
