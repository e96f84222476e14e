package dev.verbatim.transport;

import dev.verbatim.verbs.CmEventType;
import dev.verbatim.verbs.IbvQpAttr;
import dev.verbatim.verbs.VerbsConstants;
import dev.verbatim.verbs.VerbsException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The RDMA CM side of one endpoint: the steps to a connection, and its orderly end. Runs on the
 * event thread.
 */
final class EndpointLink {
  private static final Logger LOG = LoggerFactory.getLogger(EndpointLink.class);

  private final EndpointGroup group;
  private final RdmaEndpoint endpoint;
  private final long deadlineNanos;
  private final CompletableFuture<RdmaEndpoint> future = new CompletableFuture<>();
  private CmEndpoint cm;
  private byte[] request;
  private String step = "start";
  private boolean mayDisconnect;
  private boolean established;
  private boolean over;
  private long endTriedNanos;
  private boolean retired;

  EndpointLink(EndpointGroup group, RdmaEndpoint endpoint, long nowNanos) {
    this.group = group;
    this.endpoint = endpoint;
    this.deadlineNanos = nowNanos + group.config().connectTimeout().toNanos();
    this.endTriedNanos = nowNanos;
    endpoint.onTearDown(this::tearDown);
  }

  RdmaEndpoint endpoint() {
    return endpoint;
  }

  CompletableFuture<RdmaEndpoint> future() {
    return future;
  }

  boolean isOf(CmEndpoint other) {
    return cm == other;
  }

  /** Begins to connect; {@code privateData} has 56 bytes at most. */
  void connect(byte[] privateData) {
    request = privateData;
    step = "resolving the address";
    try {
      cm = group.cmEndpoints().create(this::onEvent);
      cm.setTrafficClass(group.config().trafficClass());
      cm.resolveAddress(group.address(), endpoint.peer(), remainingMillis());
    } catch (VerbsException | RuntimeException | Error e) {
      fail(e);
    }
  }

  /** Accepts what a peer has asked for; {@code privateData} has 196 bytes at most. */
  void accept(CmEndpoint from, CmEvent event, byte[] privateData) {
    cm = from;
    step = "accepting";
    try {
      cm.setTrafficClass(group.config().trafficClass());
      setAckTimeout();
      createQueuePair();
      int depth = endpoint.limits().readDepth();
      try (Arena arena = Arena.ofConfined()) {
        group
            .port()
            .rdmaCm()
            .accept(
                cm.id(),
                parameters(
                    arena,
                    privateData,
                    Math.min(depth, event.responderResources()),
                    Math.min(depth, event.initiatorDepth())));
      }
      mayDisconnect = true;
      setRnrDelay();
      endpoint.connected(event.privateData());
    } catch (VerbsException | RuntimeException | Error e) {
      cm.reject(new byte[0]);
      fail(e);
    }
  }

  private MemorySegment parameters(Arena arena, byte[] data, int served, int initiated) {
    int rnrRetry = group.config().rnrRetry();
    return ConnectAttempt.connParam(arena, data, served, initiated, rnrRetry);
  }

  void onEvent(CmEndpoint from, CmEvent event) {
    if (over) {
      return;
    }
    try {
      switch (event.type().consequence()) {
        case PROGRESS -> advance(event);
        case ESTABLISHED -> establish(event);
        case CONNECT_FAILED -> endpoint.fail(failure(event));
        case DISCONNECTED -> endpoint.fail(event.describe() + " from the peer");
        case DEVICE_REMOVED -> group.deviceFailed(event.type().cName());
        case INCOMING, IGNORED -> {}
      }
    } catch (VerbsException | RuntimeException | Error e) {
      fail(e);
    }
  }

  private void advance(CmEvent event) throws VerbsException {
    if (event.type() == CmEventType.ADDR_RESOLVED) {
      if (cm.contextAddress() != group.port().context().address()) {
        endpoint.fail("the route to the peer does not leave by the device in use");
        return;
      }
      step = "resolving the route";
      group.port().rdmaCm().resolveRoute(cm.id(), remainingMillis());
    } else if (event.type() == CmEventType.ROUTE_RESOLVED) {
      step = "connecting";
      setAckTimeout();
      createQueuePair();
      int depth = endpoint.limits().readDepth();
      try (Arena arena = Arena.ofConfined()) {
        group.port().rdmaCm().connect(cm.id(), parameters(arena, request, depth, depth));
      }
      mayDisconnect = true;
    }
  }

  /** Of this side's requests; the peer sets its own. */
  private void setAckTimeout() {
    long patience = 2 * group.config().peerTimeout().toNanos();
    cm.setAckTimeout(ConnectAttempt.ackTimeoutExponent(patience));
  }

  private void createQueuePair() throws VerbsException {
    EndpointLimits limits = endpoint.limits();
    int granted = tryCreateQueuePair(limits);
    endpoint.prepared(
        new WorkRequests(group.port().verbs(), cm.queuePair(), limits.slices(), granted), granted);
  }

  /** What a device grants of inline data is told by trying only. */
  private int tryCreateQueuePair(EndpointLimits limits) throws VerbsException {
    int wanted = limits.inlineBytes();
    while (true) {
      try {
        cm.createQueuePair(
            group.port().pd(),
            group.port().completionQueue(),
            new QueuePairSizes(limits.sendDepth(), limits.receiveDepth(), limits.slices(), wanted));
        return wanted;
      } catch (VerbsException e) {
        if (wanted == 0) {
          throw e;
        }
        LOG.debug("No queue pair with {} bytes of inline data: {}", wanted, e.getMessage());
        wanted = 0;
      }
    }
  }

  /** RDMA CM leaves the longest delay, 655 ms, and has no parameter for it. */
  private void setRnrDelay() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment attr = IbvQpAttr.STRUCT.allocate(arena);
      IbvQpAttr.MIN_RNR_TIMER.set(attr, (byte) RnrDelay.code(group.config().rnrDelay()));
      group.port().verbs().modifyQp(cm.queuePair(), attr, VerbsConstants.IBV_QP_MIN_RNR_TIMER);
    } catch (VerbsException e) {
      LOG.warn(
          "rnrDelay={} is not in force, peers wait 655 ms after a message that found no receive:"
              + " {}",
          group.config().rnrDelay(),
          e.getMessage());
    }
  }

  private void establish(CmEvent event) {
    if (established) {
      return;
    }
    established = true;
    if (request != null) {
      setRnrDelay();
      endpoint.connected(event.privateData());
    }
    group.counters().connectsInitiated.add(request != null ? 1 : 0);
    group.counters().connectsAccepted.add(request != null ? 0 : 1);
    future.complete(endpoint);
  }

  private void fail(Throwable thrown) {
    endpoint.fail(thrown instanceof VerbsException ? thrown.getMessage() : thrown.toString());
  }

  /**
   * Ends a connect that takes too long, and begins an end anew that was not reached: something may
   * be thrown on the way.
   */
  void checkDeadline(long nowNanos) {
    if (endpoint.cause() != null) {
      if (nowNanos - endTriedNanos >= PeerConnection.TEAR_DOWN_AGAIN_NANOS) {
        end();
      }
      return;
    }
    if (!established && !over && deadlineNanos - nowNanos <= 0) {
      endpoint.fail("no answer within " + group.config().connectTimeout().toMillis() + " ms");
    }
  }

  long deadlineNanos() {
    return established || over ? Long.MAX_VALUE : deadlineNanos;
  }

  /**
   * Ends the connection in three steps, so that no message which has come is lost: no more requests
   * run; the poller takes the completions that there are; the queue pair goes, which would take
   * them along.
   */
  private void tearDown() {
    if (!over) {
      end();
    }
  }

  private void end() {
    over = true;
    endTriedNanos = System.nanoTime();
    if (cm != null && mayDisconnect) {
      cm.disconnect();
    }
    group.afterCompletions(this::destroy);
  }

  private void destroy() {
    if (retired) {
      return;
    }
    if (cm != null) {
      cm.destroyQueuePair();
    }
    group.retire(this);
    retired = true;
    if (cm != null) {
      cm.destroy();
    }
    if (!established) {
      group.counters().connectsFailed.increment();
      String why = step + ": " + endpoint.cause();
      future.completeExceptionally(
          new ConnectException(
              "no connection from " + group.address() + " to " + endpoint.peer() + ", " + why));
    }
  }

  private static String failure(CmEvent event) {
    if (event.type() != CmEventType.REJECTED) {
      return event.describe();
    }
    String said = new String(event.privateData(), StandardCharsets.UTF_8).trim();
    return event.describe()
        + (said.isEmpty() ? ": nobody listens there, or the peer refused" : ": " + said);
  }

  private int remainingMillis() {
    long left = TimeUnit.NANOSECONDS.toMillis(deadlineNanos - System.nanoTime());
    return Math.clamp(left, 1, Integer.MAX_VALUE);
  }
}
