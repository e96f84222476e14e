package dev.verbatim.transport;

import dev.verbatim.verbs.CmEventType;
import dev.verbatim.verbs.RdmaCm;
import dev.verbatim.verbs.VerbsConstants;
import dev.verbatim.verbs.VerbsException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * All RDMA CM identifiers of a transport: takes the events of their channel and gives each to its
 * identifier's handler. Touched by the event thread only, once that runs.
 */
final class CmEndpoints {
  /** Events taken at a time: a flood of requests must not keep the thread from its other work. */
  static final int MOST_EVENTS = 128;

  private static final Logger LOG = LoggerFactory.getLogger(CmEndpoints.class);

  private final RdmaCm rdmaCm;
  private final MemorySegment channel;
  private final Counters counters;
  private final PortMonitor monitor;
  private final Map<Long, CmEndpoint> endpoints = new HashMap<>();

  /**
   * Identifiers given up while the port is down, or that could not be destroyed. Disconnecting or
   * destroying one sends a message to the peer, and Soft-RoCE's queue pair for such messages does
   * not recover from sending on a link that is down.
   */
  private final List<CmEndpoint> parked = new ArrayList<>();

  private long nextTryNanos = System.nanoTime();

  private final Set<Integer> refusedOptions = new HashSet<>();

  CmEndpoints(RdmaCm rdmaCm, MemorySegment channel, Counters counters, PortMonitor monitor) {
    this.rdmaCm = rdmaCm;
    this.channel = channel;
    this.counters = counters;
    this.monitor = monitor;
  }

  Counters counters() {
    return counters;
  }

  /** Whether an option of this name is refused for the first time. */
  boolean isFirstRefusal(int option) {
    return refusedOptions.add(option);
  }

  CmEndpoint create(CmEndpoint.Handler handler) throws VerbsException {
    MemorySegment id = rdmaCm.createId(channel, MemorySegment.NULL, VerbsConstants.RDMA_PS_TCP);
    return adopt(id, handler);
  }

  /** Takes an identifier that came with a CONNECT_REQUEST. */
  CmEndpoint adopt(MemorySegment id, CmEndpoint.Handler handler) {
    CmEndpoint endpoint = new CmEndpoint(this, rdmaCm, id, handler);
    endpoints.put(id.address(), endpoint);
    return endpoint;
  }

  /** Takes events that wait; the channel stays readable while there are more. */
  void drain() throws VerbsException {
    for (int taken = 0; taken < MOST_EVENTS; taken++) {
      MemorySegment event = rdmaCm.getCmEvent(channel);
      if (event.address() == 0) {
        return;
      }
      CmEvent copy;
      try {
        copy = CmEvent.of(event);
      } finally { // or else its identifier could never be destroyed
        rdmaCm.ackCmEvent(event);
      }
      dispatch(copy);
    }
  }

  void dispatch(CmEvent event) {
    boolean incoming = event.type() == CmEventType.CONNECT_REQUEST;
    CmEndpoint endpoint = endpoints.get((incoming ? event.listenId() : event.id()).address());
    if (endpoint != null) {
      endpoint.onEvent(event);
    } else if (incoming) {
      adopt(event.id(), (unused, late) -> {}).destroy();
    } else {
      LOG.debug("{} for an identifier that was given up", event.describe());
    }
  }

  /** The endpoint of a queue pair, or null. */
  CmEndpoint ofQueuePair(long address) {
    for (CmEndpoint endpoint : endpoints.values()) {
      if (address != 0 && endpoint.queuePairAddress() == address) {
        return endpoint;
      }
    }
    return null;
  }

  /** Whether the peer can be told the end of a connection now. */
  boolean mayDisconnect() {
    return monitor.reachesPeers();
  }

  void remove(CmEndpoint endpoint) {
    try {
      endpoints.remove(endpoint.id().address());
      endpoint.destroyQueuePair();
      if (monitor.mayTalk()) {
        endpoint.destroyId();
        return;
      }
    } catch (Throwable e) {
      WakeUp.say(e, LOG, "A connection's identifier could not be destroyed, which is tried again");
    }
    parked.add(endpoint);
  }

  /** Destroys what was given up while the port was down, and what could not be destroyed. */
  void destroyParked() {
    for (int i = parked.size() - 1; i >= 0; i--) {
      try {
        parked.get(i).destroyQueuePair();
        parked.get(i).destroyId();
        parked.remove(i); // not before: whatever is thrown, it is there still
      } catch (Throwable e) {
        WakeUp.say(e, LOG, "A connection's identifier stays, which is tried again");
      }
    }
  }

  /** Tries again what could not be destroyed. */
  long tick(long now) {
    if (parked.isEmpty()) {
      return Long.MAX_VALUE;
    }
    if (now - nextTryNanos >= 0) {
      nextTryNanos = now + PeerConnection.TEAR_DOWN_AGAIN_NANOS;
      if (monitor.mayTalk()) {
        destroyParked();
      }
    }
    return Math.max(0, nextTryNanos - now);
  }

  int size() {
    return endpoints.size();
  }
}
