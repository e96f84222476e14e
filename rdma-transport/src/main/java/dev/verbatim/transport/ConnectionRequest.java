package dev.verbatim.transport;

import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;

/**
 * A peer's wish to connect, to be accepted or rejected once, by any thread, before the group's
 * connect timeout is over. Who the peer is, its private data must prove: anybody who reaches the
 * port can ask.
 */
public final class ConnectionRequest {
  private final EndpointGroup group;
  private final CmEvent event;
  private final InetSocketAddress peer;
  private final long deadlineNanos;

  // Below: the event thread's.
  private CmEndpoint cm;
  private EndpointLink link;
  private boolean over;

  ConnectionRequest(EndpointGroup group, CmEvent event, InetSocketAddress peer, long now) {
    this.group = group;
    this.event = event;
    this.peer = peer;
    this.deadlineNanos = now + group.config().connectTimeout().toNanos();
  }

  void adopted(CmEndpoint endpoint) {
    cm = endpoint;
  }

  /** Where the request came from. */
  public InetSocketAddress peer() {
    return peer;
  }

  /** What the peer sent, 56 bytes at most; RDMA CM may have padded it with zeros. */
  public byte[] privateData() {
    return event.privateData().clone();
  }

  /** As {@link #accept(EndpointListener, byte[])}, without data. */
  public CompletableFuture<RdmaEndpoint> accept(EndpointListener listener) {
    return accept(listener, new byte[0]);
  }

  /**
   * Accepts.
   *
   * @param privateData for the peer, 196 bytes at most
   * @param listener is told of the endpoint, perhaps of its first completions before the future is
   *     done; of one that fails to connect too: its {@code onClosed} is the last call, unless there
   *     was no room for an endpoint and so no call at all
   * @return done when the peer knows; fails with {@link ConnectException}. What is chained to it
   *     runs on the event thread: it must not block. Cancelling it ends the connection
   * @throws IllegalArgumentException when there are too many bytes
   */
  public CompletableFuture<RdmaEndpoint> accept(EndpointListener listener, byte[] privateData) {
    EndpointGroup.checkPrivateData(privateData, EndpointGroup.MOST_ACCEPT_BYTES);
    Objects.requireNonNull(listener, "listener");
    byte[] copy = privateData.clone();
    CompletableFuture<RdmaEndpoint> result = new CompletableFuture<>();
    group.run(
        () -> {
          if (over || link != null) {
            result.completeExceptionally(
                new ConnectException("the request of " + peer + " is answered or given up"));
            return;
          }
          link = group.accept(this, listener, result);
          if (link != null) {
            link.accept(cm, event, copy);
          }
        },
        result);
    return result;
  }

  /**
   * Rejects.
   *
   * @param reason for the peer's message, cut to 148 bytes
   */
  public void reject(String reason) {
    Objects.requireNonNull(reason, "reason");
    group.run(() -> rejectNow(reason));
  }

  void rejectNow(String reason) {
    if (!over && link == null) {
      over = true;
      byte[] bytes = reason.getBytes(StandardCharsets.UTF_8);
      cm.reject(Arrays.copyOf(bytes, Math.min(bytes.length, EndpointGroup.MOST_REJECT_BYTES)));
      cm.destroy();
      group.answered(this);
    }
  }

  void onEvent(CmEndpoint from, CmEvent next) {
    if (link != null) {
      link.onEvent(from, next);
    } else {
      switch (next.type().consequence()) {
        case CONNECT_FAILED, DISCONNECTED -> rejectNow("");
        case DEVICE_REMOVED -> group.deviceFailed(next.type().cName());
        default -> {}
      }
    }
  }

  void checkDeadline(long nowNanos) {
    if (deadlineNanos - nowNanos <= 0) {
      rejectNow("not answered in time");
    }
  }
}
