package dev.verbatim.it.transport;

import dev.verbatim.transport.BufferSlice;
import dev.verbatim.transport.EndpointGroup;
import dev.verbatim.transport.EndpointListener;
import dev.verbatim.transport.RdmaEndpoint;
import dev.verbatim.transport.WorkCompletion;
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
    EndpointRecorder nearSays = new EndpointRecorder();
    EndpointRecorder farSays = new EndpointRecorder();
    EndpointListener farListener = prepared(farSays, prepare);
    CompletableFuture<RdmaEndpoint> far = new CompletableFuture<>();
    InetSocketAddress address =
        to.listen(
            0,
            request ->
                request
                    .accept(farListener)
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

  private static EndpointListener prepared(EndpointRecorder to, Consumer<RdmaEndpoint> prepare) {
    return new EndpointListener() {
      @Override
      public void onPrepared(RdmaEndpoint endpoint) {
        prepare.accept(endpoint);
      }

      @Override
      public void onCompletion(RdmaEndpoint endpoint, WorkCompletion completion) {
        to.onCompletion(endpoint, completion);
      }

      @Override
      public void onClosed(RdmaEndpoint endpoint, String reason) {
        to.onClosed(endpoint, reason);
      }
    };
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
