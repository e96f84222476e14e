package dev.verbatim.transport;

import dev.verbatim.verbs.CmEventType;
import dev.verbatim.verbs.RdmaConnParam;
import dev.verbatim.verbs.VerbsException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * The way from a peer's address to an established connection: for each queue pair address, route,
 * connect, proof. It either succeeds as a whole before its deadline or leaves nothing behind. Runs
 * on the event thread.
 */
final class ConnectAttempt {
  /** Retransmissions before a READ fails; Soft-RoCE takes 7 for ever. */
  static final int RETRY_COUNT = 6;

  /** For ever: a peer that is only slow is told by our own deadline. */
  static final int RNR_RETRY_COUNT = 7;

  private static final ConnectException NO_MEMORY =
      new ConnectException("no connection, and no memory to say why");

  /** What an attempt needs of its maker. */
  interface Owner extends PeerConnection.Owner {
    OpenPort port();

    CmEndpoints endpoints();

    SendQueueTable<PeerConnection> table();

    Handshake handshake();

    TransportConfig config();

    InetSocketAddress ownAddress();

    void succeeded(ConnectAttempt attempt, PeerConnection connection);

    void failed(ConnectAttempt attempt, ConnectException reason);
  }

  private final Owner owner;
  private final PeerAddress peer;
  private final long deadlineNanos;
  private final CompletableFuture<PeerConnection> future = new CompletableFuture<>();
  private final CmEndpoint[] endpoints;
  private final int[] keys;
  private final byte[][] requests;
  private int established;
  private boolean over;
  private PeerConnection connection;
  private String step = "start";

  ConnectAttempt(Owner owner, PeerAddress peer, long nowNanos) {
    this.owner = owner;
    this.peer = peer;
    this.deadlineNanos = nowNanos + owner.config().connectTimeout().toNanos();
    int count = owner.config().qpsPerPeer();
    this.endpoints = new CmEndpoint[count];
    this.keys = new int[count];
    this.requests = new byte[count][];
    Arrays.fill(keys, -1);
  }

  PeerAddress peer() {
    return peer;
  }

  CompletableFuture<PeerConnection> future() {
    return future;
  }

  long deadlineNanos() {
    return deadlineNanos;
  }

  CmEndpoint[] endpoints() {
    return endpoints;
  }

  void start() {
    if (over) {
      return;
    }
    for (int i = 0; i < keys.length; i++) {
      keys[i] = owner.table().reserve();
      if (keys[i] < 0) {
        fail("this process keeps as many queue pairs as it may, " + owner.table().inUse(), null);
        return;
      }
    }
    try {
      for (int i = 0; i < endpoints.length; i++) {
        resolveAddress(i);
      }
    } catch (VerbsException | RuntimeException | Error e) {
      fail(e);
    }
  }

  /** Errors too, such as memory that is used up: they concern this attempt and not its thread. */
  private void fail(Throwable thrown) {
    String why = thrown instanceof VerbsException ? thrown.getMessage() : thrown.toString();
    if (connection == null) {
      fail(why, thrown);
    } else {
      connection.fail(new ReadFailure(ReadFailure.Kind.OTHER, why));
      future.complete(connection);
    }
  }

  private void resolveAddress(int index) throws VerbsException {
    CmEndpoint endpoint = owner.endpoints().create(this::onEvent);
    endpoints[index] = endpoint;
    endpoint.setTrafficClass(owner.config().trafficClass());
    step = "resolving the address";
    endpoint.resolveAddress(owner.ownAddress().getAddress(), peer.address(), remainingMillis());
  }

  private void onEvent(CmEndpoint endpoint, CmEvent event) {
    if (connection != null) {
      afterSuccess(event);
      return;
    }
    try {
      switch (event.type().consequence()) {
        case PROGRESS -> advance(endpoint, event);
        case ESTABLISHED -> check(endpoint, event);
        case CONNECT_FAILED -> fail(failure(event), null);
        case DISCONNECTED -> fail(event.describe() + " while connecting", null);
        case DEVICE_REMOVED -> owner.deviceFailed(event.type().cName());
        case INCOMING, IGNORED -> {}
      }
    } catch (VerbsException | RuntimeException | Error e) {
      fail(e);
    }
  }

  private void afterSuccess(CmEvent event) {
    switch (event.type().consequence()) {
      case DISCONNECTED, CONNECT_FAILED ->
          connection.fail(
              new ReadFailure(ReadFailure.Kind.DISCONNECTED, event.describe() + " from " + peer));
      case DEVICE_REMOVED -> owner.deviceFailed(event.type().cName());
      case PROGRESS, ESTABLISHED, INCOMING, IGNORED -> {}
    }
  }

  private void advance(CmEndpoint endpoint, CmEvent event) throws VerbsException {
    switch (event.type()) {
      case ADDR_RESOLVED -> resolveRoute(endpoint);
      case ROUTE_RESOLVED -> connect(endpoint);
      default -> {}
    }
  }

  private void resolveRoute(CmEndpoint endpoint) throws VerbsException {
    if (endpoint.contextAddress() != owner.port().context().address()) {
      fail("the route to the peer does not leave by the device in use", null);
      return;
    }
    step = "resolving the route";
    owner.port().rdmaCm().resolveRoute(endpoint.id(), remainingMillis());
  }

  private void connect(CmEndpoint endpoint) throws VerbsException {
    step = "connecting";
    int index = Arrays.asList(endpoints).indexOf(endpoint);
    QueueLimits limits = owner.port().limits();
    endpoint.setAckTimeout(ackTimeoutExponent(owner.config().readTimeout().toNanos()));
    endpoint.createQueuePair(
        owner.port().pd(), owner.port().completionQueue(), limits.sendQueueDepth());
    byte[] request =
        owner.handshake().request(peer, limits.initiatorDepth(), index, endpoints.length);
    requests[index] = request;
    try (Arena arena = Arena.ofConfined()) {
      // One READ of the peer is allowed for, although none comes: iWARP's own handshake needs it.
      MemorySegment param =
          connParam(arena, request, Math.min(1, limits.responderDepth()), limits.initiatorDepth());
      owner.port().rdmaCm().connect(endpoint.id(), param);
    }
  }

  static MemorySegment connParam(
      Arena arena, byte[] privateData, int responderResources, int initiatorDepth) {
    return connParam(arena, privateData, responderResources, initiatorDepth, RNR_RETRY_COUNT);
  }

  /**
   * @param rnrRetries how often the peer repeats what finds no receive, 7 for ever
   */
  static MemorySegment connParam(
      Arena arena, byte[] privateData, int responderResources, int initiatorDepth, int rnrRetries) {
    MemorySegment param = RdmaConnParam.STRUCT.allocate(arena);
    MemorySegment data = arena.allocate(Math.max(1, privateData.length));
    MemorySegment.copy(privateData, 0, data, ValueLayout.JAVA_BYTE, 0, privateData.length);
    RdmaConnParam.PRIVATE_DATA.set(param, data);
    RdmaConnParam.PRIVATE_DATA_LEN.set(param, (byte) privateData.length);
    RdmaConnParam.RESPONDER_RESOURCES.set(param, (byte) responderResources);
    RdmaConnParam.INITIATOR_DEPTH.set(param, (byte) initiatorDepth);
    RdmaConnParam.FLOW_CONTROL.set(param, (byte) 1);
    RdmaConnParam.RETRY_COUNT.set(param, (byte) RETRY_COUNT);
    RdmaConnParam.RNR_RETRY_COUNT.set(param, (byte) rnrRetries);
    return param;
  }

  private void check(CmEndpoint endpoint, CmEvent event) {
    int index = Arrays.asList(endpoints).indexOf(endpoint);
    int depth = owner.handshake().checkAccept(event.privateData(), requests[index]);
    if (depth == 0) {
      fail("the peer's answer does not prove that it is the process asked for", null);
      return;
    }
    established++;
    if (established == endpoints.length) {
      succeed();
    }
  }

  private void succeed() {
    QueueLimits limits = owner.port().limits();
    SendQueue[] queues = new SendQueue[endpoints.length];
    for (int i = 0; i < queues.length; i++) {
      queues[i] =
          new SendQueue(
              owner.port().verbs(),
              endpoints[i].queuePair(),
              keys[i],
              limits.sendQueueDepth(),
              limits.maxReadBytes(),
              Arena.ofAuto());
    }
    over = true; // not before: without room for the queues it is no success
    connection = new PeerConnection(peer, owner, queues, endpoints);
    for (int key : keys) {
      owner.table().set(key, connection);
    }
    owner.succeeded(this, connection);
  }

  /** Ends the attempt when its deadline has passed. */
  void checkDeadline(long nowNanos) {
    if (!over && deadlineNanos - nowNanos <= 0) {
      long millis = owner.config().connectTimeout().toMillis();
      fail("no answer within " + millis + " ms", null);
    }
  }

  void fail(String why, Throwable cause) {
    if (over) {
      return;
    }
    over = true;
    for (CmEndpoint endpoint : endpoints) {
      if (endpoint != null) {
        endpoint.destroy();
      }
    }
    for (int key : keys) {
      if (key >= 0) {
        owner.table().release(key);
      }
    }
    owner.failed(this, reason(why, cause));
  }

  private ConnectException reason(String why, Throwable cause) {
    try {
      return new ConnectException(
          "no connection from " + owner.ownAddress() + " to " + peer + ", " + step + ": " + why,
          cause);
    } catch (OutOfMemoryError e) {
      return NO_MEMORY;
    }
  }

  private static String failure(CmEvent event) {
    if (event.type() == CmEventType.REJECTED) {
      Refusal refusal = Handshake.checkRefusal(event.privateData());
      return refusal == Refusal.UNKNOWN
          ? event.describe() + ": nobody listens there, or the peer's stack refused"
          : event.describe() + ": " + refusal + ", " + refusal.meaning();
    }
    return event.describe();
  }

  private int remainingMillis() {
    long left = TimeUnit.NANOSECONDS.toMillis(deadlineNanos - System.nanoTime());
    return Math.clamp(left, 1, Integer.MAX_VALUE);
  }

  /**
   * The exponent n of the time 4.096 us * 2^n that a packet may stay unacknowledged, so that all
   * retransmissions together take about half of the time that a READ has.
   */
  static int ackTimeoutExponent(long readTimeoutNanos) {
    long each = readTimeoutNanos / 2 / (RETRY_COUNT + 1);
    int exponent = 0;
    while (exponent < 31 && (4096L << exponent + 1) <= each) {
      exponent++;
    }
    return Math.clamp(exponent, 12, 20);
  }
}
