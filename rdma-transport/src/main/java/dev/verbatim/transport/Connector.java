package dev.verbatim.transport;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps one connection per peer: makes it when it is first asked for, lets all who ask meanwhile
 * share the attempt, and gives it up when it fails, idles or the port goes down.
 */
final class Connector implements ConnectAttempt.Owner {
  private static final long MOST_WAIT_NANOS = 1_000_000_000L;

  private static final Logger LOG = LoggerFactory.getLogger(Connector.class);

  /** What is known of a peer: a connection, or an attempt at one. */
  private record Peer(PeerConnection connection, ConnectAttempt attempt) {}

  private final TransportConfig config;
  private final OpenPort port;
  private final EventLoop loop;
  private final CompletionPoller poller;
  private final CmEndpoints endpoints;
  private final SendQueueTable<PeerConnection> table;
  private final Handshake handshake;
  private final BufferPool pool;
  private final Counters counters;
  private final PortMonitor monitor;
  private final InetSocketAddress ownAddress;
  private final Backoff backoff;
  private final ReadFailure idled;

  private final Object lock = new Object();
  private final Map<String, Peer> peers = new HashMap<>();

  /** All that are not torn down yet, those whose peer has a successor already too. */
  private final Set<PeerConnection> connections = new HashSet<>();

  /** Names of peers that there was a connection to; the event thread's. */
  private final Set<String> metBefore = new HashSet<>();

  private boolean closed;

  Connector(
      TransportConfig config,
      OpenPort port,
      EventLoop loop,
      CompletionPoller poller,
      CmEndpoints endpoints,
      SendQueueTable<PeerConnection> table,
      Handshake handshake,
      BufferPool pool,
      Counters counters,
      PortMonitor monitor,
      InetSocketAddress ownAddress) {
    this.config = config;
    this.port = port;
    this.loop = loop;
    this.poller = poller;
    this.endpoints = endpoints;
    this.table = table;
    this.handshake = handshake;
    this.pool = pool;
    this.counters = counters;
    this.monitor = monitor;
    this.ownAddress = ownAddress;
    this.backoff = new Backoff(config.retryBackoff().toNanos());
    this.idled =
        new ReadFailure(
            ReadFailure.Kind.DISCONNECTED, "closed after idling for " + config.idleTimeout());
  }

  CompletableFuture<PeerConnection> connect(PeerAddress address) {
    long now = System.nanoTime();
    ConnectAttempt attempt;
    PeerConnection stale = null;
    synchronized (lock) {
      if (closed) {
        throw new IllegalStateException("the transport is closed");
      }
      Peer peer = peers.get(address.name());
      if (peer != null && peer.connection != null && peer.connection.touch()) {
        if (peer.connection.peer().equals(address)) {
          return CompletableFuture.completedFuture(peer.connection);
        }
        stale = peer.connection;
      } else if (peer != null && peer.attempt != null) {
        return peer.attempt.future().copy();
      }
      String obstacle = obstacle(address, now);
      if (obstacle != null) {
        return CompletableFuture.failedFuture(new ConnectException(obstacle));
      }
      attempt = new ConnectAttempt(this, address, now);
      peers.put(address.name(), new Peer(null, attempt));
    }
    if (stale != null) {
      stale.fail(new ReadFailure(ReadFailure.Kind.DISCONNECTED, "the peer is now at " + address));
    }
    loop.execute(attempt::start);
    return attempt.future().copy();
  }

  private String obstacle(PeerAddress address, long now) {
    if (!monitor.isActive()) {
      return "no connection to " + address + ": the own port is not active";
    }
    long wait = backoff.remainingNanos(address.name(), now);
    return wait == 0
        ? null
        : "no connection to %s: it failed to answer, next attempt in %d ms"
            .formatted(address, wait / 1_000_000 + 1);
  }

  /** Fails the connection or the attempt at one to a peer that is known to be gone. */
  void disconnect(String name, ReadFailure.Kind kind, String why) {
    Peer peer;
    synchronized (lock) {
      peer = peers.get(name);
    }
    giveUp(peer, kind, why);
  }

  private void giveUp(Peer peer, ReadFailure.Kind kind, String why) {
    if (peer == null) {
      return;
    }
    if (peer.connection != null) {
      peer.connection.fail(new ReadFailure(kind, why));
    } else {
      loop.execute(() -> peer.attempt.fail(why, null));
    }
  }

  /** Fails all connections and attempts; on the event thread. */
  void failAll(ReadFailure.Kind kind, String why) {
    List<Peer> all;
    List<PeerConnection> open;
    synchronized (lock) {
      all = new ArrayList<>(peers.values());
      open = new ArrayList<>(connections);
    }
    for (Peer peer : all) {
      if (peer.attempt != null) {
        peer.attempt.fail(why, null);
      }
    }
    ReadFailure failure = new ReadFailure(kind, why);
    for (PeerConnection connection : open) {
      connection.fail(failure);
    }
  }

  /** Fails the connection or the attempt that an endpoint is part of. */
  void failEndpoint(CmEndpoint endpoint, String why) {
    List<Peer> all;
    synchronized (lock) {
      all = new ArrayList<>(peers.values());
    }
    for (Peer peer : all) {
      CmEndpoint[] own =
          peer.attempt != null ? peer.attempt.endpoints() : peer.connection.endpoints();
      if (Arrays.asList(own).contains(endpoint)) {
        giveUp(peer, ReadFailure.Kind.DISCONNECTED, why + " at the queue pair");
      }
    }
  }

  /** The port is up: failures until now were its own fault. */
  void portUp() {
    backoff.clear();
  }

  /** Looks after the deadlines of attempts and idle connections; on the event thread. */
  long tick(long now) {
    List<Peer> all;
    synchronized (lock) {
      all = new ArrayList<>(peers.values());
    }
    long idle = config.idleTimeout().toNanos();
    long wait = Math.min(MOST_WAIT_NANOS, Math.max(1_000_000, idle / 4));
    for (Peer peer : all) {
      if (peer.attempt != null) {
        peer.attempt.checkDeadline(now);
        wait = Math.min(wait, Math.max(0, peer.attempt.deadlineNanos() - now));
      } else {
        peer.connection.failIfIdle(now, idle, idled);
      }
    }
    return wait;
  }

  @Override
  public void succeeded(ConnectAttempt attempt, PeerConnection connection) {
    counters.connectsInitiated.increment();
    if (!metBefore.add(attempt.peer().name())) {
      counters.reconnects.increment();
    }
    backoff.succeeded(attempt.peer().name());
    synchronized (lock) {
      connections.add(connection);
      if (peers.get(attempt.peer().name()) instanceof Peer now && now.attempt == attempt) {
        peers.put(attempt.peer().name(), new Peer(connection, null));
      }
    }
    LOG.debug("Connected to {}", attempt.peer());
    attempt.future().complete(connection);
  }

  @Override
  public void failed(ConnectAttempt attempt, ConnectException reason) {
    try {
      counters.connectsFailed.increment();
      if (monitor.isActive()) {
        backoff.failed(attempt.peer().name(), System.nanoTime());
      }
      LOG.debug("{}", reason.getMessage());
    } finally { // whatever is thrown, somebody waits
      synchronized (lock) {
        if (peers.get(attempt.peer().name()) instanceof Peer now && now.attempt == attempt) {
          peers.remove(attempt.peer().name());
        }
      }
      attempt.future().completeExceptionally(reason);
    }
  }

  @Override
  public void tearDown(PeerConnection connection) {
    loop.execute(() -> tearDownNow(connection));
  }

  /** Throws nothing: what has not come to its end is asked for again. */
  private boolean tearDownNow(PeerConnection connection) {
    try {
      endSteps(connection);
      return true;
    } catch (Throwable e) {
      WakeUp.say(e, LOG, "A connection could not be closed, which is tried again");
      return false;
    }
  }

  /** The steps to a connection's end, each of which may be taken again after one has thrown. */
  private void endSteps(PeerConnection connection) {
    String name = connection.peer().name();
    if (!connection.counted && isSilence(connection.cause().kind()) && monitor.isActive()) {
      backoff.failed(name, System.nanoTime());
      connection.counted = true;
    }
    synchronized (lock) {
      if (peers.get(name) instanceof Peer now && now.connection == connection) {
        peers.remove(name);
      }
    }
    for (CmEndpoint endpoint : connection.endpoints()) {
      endpoint.disconnect();
      endpoint.destroyQueuePair();
    }
    // The device is done with the buffers; what completed before is still in the queue.
    poller.execute(() -> retire(connection));
    for (CmEndpoint endpoint : connection.endpoints()) {
      endpoint.destroy();
    }
    synchronized (lock) {
      connections.remove(connection);
    }
    LOG.debug("The connection to {} is closed", connection.peer());
  }

  private void retire(PeerConnection connection) {
    if (connection.retired()) {
      for (SendQueue queue : connection.queues()) {
        table.release(queue.key());
      }
    }
  }

  /**
   * Tears down, when the event thread has ended, what it could not.
   *
   * @return whether nothing is left
   */
  boolean tearDownRest() {
    List<PeerConnection> rest;
    synchronized (lock) {
      rest = List.copyOf(connections);
    }
    boolean all = true;
    for (PeerConnection connection : rest) {
      connection.fail(new ReadFailure(ReadFailure.Kind.DISCONNECTED, "the transport is closed"));
      all &= tearDownNow(connection);
    }
    return all;
  }

  /** A peer that does not answer now will hardly answer a new connection's READs. */
  private static boolean isSilence(ReadFailure.Kind kind) {
    return kind == ReadFailure.Kind.PEER_UNREACHABLE || kind == ReadFailure.Kind.DEADLINE;
  }

  @Override
  public void end(ReadBatch batch, ReadFailure failure) {
    poller.execute(() -> CompletionPoller.end(batch, failure));
  }

  /** Refuses new connections; the existing ones are to be failed after this. */
  void close() {
    synchronized (lock) {
      closed = true;
    }
  }

  @Override
  public void deviceFailed(String why) {
    loop.execute(() -> monitor.fail(why));
  }

  @Override
  public OpenPort port() {
    return port;
  }

  @Override
  public CmEndpoints endpoints() {
    return endpoints;
  }

  @Override
  public SendQueueTable<PeerConnection> table() {
    return table;
  }

  @Override
  public Handshake handshake() {
    return handshake;
  }

  @Override
  public TransportConfig config() {
    return config;
  }

  @Override
  public InetSocketAddress ownAddress() {
    return ownAddress;
  }

  @Override
  public BufferPool pool() {
    return pool;
  }

  @Override
  public Counters counters() {
    return counters;
  }

  @Override
  public long readTimeoutNanos() {
    return config.readTimeout().toNanos();
  }
}
