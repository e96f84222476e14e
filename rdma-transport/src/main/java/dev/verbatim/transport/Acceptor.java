package dev.verbatim.transport;

import dev.verbatim.verbs.VerbsException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Answers peers that want to READ from this process: checks who they are, gives each a queue pair
 * and forgets it when the peer goes. Runs on the event thread; READs themselves need nothing here.
 */
final class Acceptor {
  private static final int BACKLOG = 256;
  private static final long TICK_NANOS = 1_000_000_000L;

  private static final Logger LOG = LoggerFactory.getLogger(Acceptor.class);

  private static final class Accepted {
    final Handshake.Source from;
    final int key;
    final long sinceNanos;
    boolean established;

    Accepted(Handshake.Source from, int key, long sinceNanos) {
      this.from = from;
      this.key = key;
      this.sinceNanos = sinceNanos;
    }
  }

  private final TransportConfig config;
  private final OpenPort port;
  private final CmEndpoints endpoints;
  private final SendQueueTable<PeerConnection> table;
  private final Handshake handshake;
  private final Counters counters;
  private final PortMonitor monitor;
  private final Map<CmEndpoint, Accepted> accepted = new LinkedHashMap<>(); // oldest first
  private final Map<Handshake.Source, CmEndpoint> byPeer = new HashMap<>();
  private CmEndpoint listener;

  Acceptor(
      TransportConfig config,
      OpenPort port,
      CmEndpoints endpoints,
      SendQueueTable<PeerConnection> table,
      Handshake handshake,
      Counters counters,
      PortMonitor monitor) {
    this.config = config;
    this.port = port;
    this.endpoints = endpoints;
    this.table = table;
    this.handshake = handshake;
    this.counters = counters;
    this.monitor = monitor;
    table.whenFull(this::closeLongestHeld);
  }

  /**
   * Listens at an address, a {@code struct sockaddr}.
   *
   * @return the listener's port
   */
  int listen(MemorySegment address) throws VerbsException {
    CmEndpoint endpoint = endpoints.create(this::onListenerEvent);
    try {
      endpoint.setTrafficClass(config.trafficClass());
      port.rdmaCm().bindAddr(endpoint.id(), address);
      port.rdmaCm().listen(endpoint.id(), BACKLOG);
      listener = endpoint;
      return port.rdmaCm().getSrcPort(endpoint.id());
    } catch (VerbsException e) {
      endpoint.destroy();
      throw e;
    }
  }

  private void onListenerEvent(CmEndpoint endpoint, CmEvent event) {
    switch (event.type().consequence()) {
      case INCOMING -> onRequest(event);
      case DEVICE_REMOVED -> monitor.fail(event.type().cName());
      default -> LOG.debug("{} at the listener", event.describe());
    }
  }

  private void onRequest(CmEvent event) {
    CmEndpoint endpoint = endpoints.adopt(event.id(), this::onEvent);
    Refusal refusal = Refusal.ERROR;
    Throwable thrown = null;
    try {
      refusal = answer(endpoint, event);
    } catch (VerbsException | RuntimeException | Error e) {
      forget(endpoint);
      thrown = e;
    }
    if (refusal != null) {
      refuse(endpoint, refusal);
    }
    if (thrown != null) { // last: there may be no memory to say so
      LOG.warn("A connection cannot be accepted: {}", thrown.toString());
    }
  }

  /** Accepts a request, or says why not. */
  private Refusal answer(CmEndpoint endpoint, CmEvent event) throws VerbsException {
    Handshake.Checked checked = handshake.check(event.privateData());
    Refusal refusal = checked.refusal() != null ? checked.refusal() : obstacle(endpoint);
    if (refusal != null) {
      return refusal;
    }
    // What the peer's device allows travels in the request; what it wants, in the private data.
    int wanted = Math.min(event.responderResources(), checked.request().readDepth());
    int depth = QueueLimits.depth(wanted, port.limits().responderDepth());
    if (depth == 0) {
      return Refusal.NO_READ;
    }
    Handshake.Source from = checked.request().source();
    replace(from);
    int key = table.reserve();
    if (key < 0) {
      return Refusal.BUDGET;
    }
    accepted.put(endpoint, new Accepted(from, key, System.nanoTime()));
    byPeer.put(from, endpoint);
    accept(endpoint, checked.request(), event, depth);
    return null;
  }

  private Refusal obstacle(CmEndpoint endpoint) {
    if (!monitor.isActive()) {
      return Refusal.CLOSING;
    }
    boolean sameDevice = endpoint.contextAddress() == port.context().address();
    return sameDevice ? null : Refusal.ERROR;
  }

  /** A peer asks again for what it has: its old queue pair died without a word. */
  private void replace(Handshake.Source from) {
    CmEndpoint old = byPeer.get(from);
    if (old != null) {
      close(old);
    }
  }

  private void accept(CmEndpoint endpoint, Handshake.Request request, CmEvent event, int depth)
      throws VerbsException {
    endpoint.setTrafficClass(config.trafficClass());
    // Nothing is ever sent from here: READs are answered by the device.
    endpoint.createQueuePair(port.pd(), port.completionQueue(), 1);
    try (Arena arena = Arena.ofConfined()) {
      int initiatorDepth =
          Math.min(Math.min(1, event.initiatorDepth()), port.limits().initiatorDepth());
      MemorySegment param =
          ConnectAttempt.connParam(arena, handshake.accept(request, depth), depth, initiatorDepth);
      port.rdmaCm().accept(endpoint.id(), param);
    }
  }

  private void refuse(CmEndpoint endpoint, Refusal reason) {
    try {
      counters.refused(reason);
      LOG.debug("A connection is refused: {}", reason.meaning());
      endpoint.reject(Handshake.refuse(reason));
    } finally {
      endpoint.destroy();
    }
  }

  private void onEvent(CmEndpoint endpoint, CmEvent event) {
    Accepted connection = accepted.get(endpoint);
    if (connection == null) {
      return;
    }
    switch (event.type().consequence()) {
      case ESTABLISHED -> {
        if (!connection.established) {
          connection.established = true;
          counters.connectsAccepted.increment();
        }
      }
      case CONNECT_FAILED, DISCONNECTED -> {
        LOG.debug("{} of an accepted connection", event.describe());
        close(endpoint);
      }
      case DEVICE_REMOVED -> monitor.fail(event.type().cName());
      case PROGRESS, INCOMING, IGNORED -> {}
    }
  }

  /** Whether the endpoint was accepted here; if so it is closed. */
  boolean closeIfAccepted(CmEndpoint endpoint) {
    boolean mine = accepted.containsKey(endpoint);
    if (mine) {
      close(endpoint);
    }
    return mine;
  }

  private void close(CmEndpoint endpoint) {
    forget(endpoint);
    endpoint.disconnect();
    endpoint.destroy();
  }

  /**
   * Closes the connection that was accepted first, if that is longer ago than a peer keeps one that
   * idles. The peer may have vanished without a word: nothing is sent to it that could fail, so its
   * queue pair would stay for ever. If it is there after all, the READs under way fail, which costs
   * a fetch by other means, and its next ones connect again.
   */
  private boolean closeLongestHeld() {
    if (accepted.isEmpty()) {
      return false;
    }
    Map.Entry<CmEndpoint, Accepted> oldest = accepted.entrySet().iterator().next();
    Duration held = Duration.ofNanos(System.nanoTime() - oldest.getValue().sinceNanos);
    if (held.compareTo(config.idleTimeout()) < 0) {
      return false;
    }
    LOG.info("All queue pairs are in use: one that was accepted {} ago is closed", held);
    close(oldest.getKey());
    return true;
  }

  private void forget(CmEndpoint endpoint) {
    Accepted connection = accepted.remove(endpoint);
    if (connection != null) {
      byPeer.remove(connection.from, endpoint);
      // Destroyed by the caller; nothing of it ever completes, so the key is free at once.
      table.release(connection.key);
    }
  }

  /** Gives up connections that the peer did not complete in time. */
  long tick(long now) {
    long patience = config.connectTimeout().toNanos();
    for (CmEndpoint endpoint : new ArrayList<>(accepted.keySet())) {
      Accepted connection = accepted.get(endpoint);
      if (!connection.established && now - connection.sinceNanos >= patience) {
        close(endpoint);
      }
    }
    return TICK_NANOS;
  }

  void closeAll() {
    List<CmEndpoint> all = new ArrayList<>(accepted.keySet());
    all.forEach(this::close);
  }

  /** Ends the listener; peers are refused by the system from now on. */
  void close() {
    if (listener != null) {
      listener.destroy();
      listener = null;
    }
    closeAll();
  }
}
