package dev.verbatim.transport;

import dev.verbatim.verbs.AsyncEventType;
import dev.verbatim.verbs.IbvAsyncEvent;
import dev.verbatim.verbs.IbvPortAttr;
import dev.verbatim.verbs.PortState;
import dev.verbatim.verbs.VerbsException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Knows whether the port may be used, from the device's asynchronous events. Events are taken on
 * the event thread.
 */
final class PortMonitor {
  private static final Logger LOG = LoggerFactory.getLogger(PortMonitor.class);

  /** What the transport does about events. Called on the event thread. */
  interface Actions {
    /**
     * The port is down, or the device failed: connections are of no use any more.
     *
     * @param kind what READs that are under way fail with
     */
    void portDown(ReadFailure.Kind kind, String why);

    /** The port is up: attributes are to be read afresh. */
    void portUp();

    /** The port's addresses changed. */
    void addressChanged();

    /** A queue pair failed. */
    void queuePairFailed(long address, String why);

    /** Whether a completion queue that failed is one of this transport's, beside the port's own. */
    boolean ownsCompletionQueue(long address);
  }

  private final OpenPort port;
  private final Counters counters;
  private final Actions actions;
  private final MemorySegment event;
  private final MemorySegment attributes;
  private final List<Consumer<Boolean>> listeners = new CopyOnWriteArrayList<>();
  private volatile boolean active = true;
  private volatile String failure;
  private volatile boolean queryRefused;

  PortMonitor(OpenPort port, Counters counters, Actions actions, Arena arena) {
    this.port = port;
    this.counters = counters;
    this.actions = actions;
    this.event = IbvAsyncEvent.STRUCT.allocate(arena);
    this.attributes = IbvPortAttr.allocate(arena);
  }

  boolean isActive() {
    return active;
  }

  /**
   * Whether messages to peers can leave now. Asks the device: that a READ failed because the link
   * is down may be known before the event is.
   */
  boolean reachesPeers() {
    return active && isActiveNow();
  }

  private boolean isActiveNow() {
    try {
      port.verbs().queryPort(port.context(), port.number(), attributes);
      return IbvPortAttr.STATE.get(attributes) == PortState.ACTIVE.number();
    } catch (VerbsException e) {
      if (!queryRefused) {
        queryRefused = true;
        LOG.warn(
            "The state of RDMA port {} cannot be asked for, it is taken for down: {}. To change it:"
                + " look into the kernel's log. Said once.",
            port.number(),
            e.getMessage());
      }
      return false;
    }
  }

  /** Whether messages to peers can leave, or need not be kept back since nothing will help. */
  boolean mayTalk() {
    return failure != null || reachesPeers();
  }

  /** Why the device is lost for this process, null while it is not. */
  String failure() {
    return failure;
  }

  void onChange(Consumer<Boolean> listener) {
    listeners.add(listener);
  }

  /** Takes all events of the port and the device that wait. */
  void drainPortEvents() throws VerbsException {
    drain(port.eventContext(), false);
  }

  /** Takes all events of queues that wait, others' of this process too. */
  void drainQueueEvents() throws VerbsException {
    drain(port.context(), true);
  }

  private void drain(MemorySegment context, boolean ofQueues) throws VerbsException {
    while (port.verbs().getAsyncEvent(context, event)) {
      AsyncEventType type = AsyncEventType.of(IbvAsyncEvent.EVENT_TYPE.get(event));
      long element = IbvAsyncEvent.ELEMENT_QP.getAddress(event);
      int number = IbvAsyncEvent.ELEMENT_PORT_NUM.get(event);
      // Before anything is done about it: a queue pair with an event cannot be destroyed.
      port.verbs().ackAsyncEvent(event);
      if (ofQueues) {
        handleQueueEvent(type, element);
      } else {
        handlePortEvent(type, number);
      }
    }
  }

  private void handleQueueEvent(AsyncEventType type, long element) {
    switch (type.scope()) {
      case QP -> handle(type, element);
      case CQ -> {
        if (element == port.completionQueue().address() || actions.ownsCompletionQueue(element)) {
          handle(type, 0);
        }
      }
      case SRQ, WQ, PORT, DEVICE, OTHER -> {} // told by the other context
    }
  }

  private void handlePortEvent(AsyncEventType type, int number) {
    switch (type.scope()) {
      case PORT -> {
        if (number == port.number()) { // a device may have other ports
          handle(type, 0);
        }
      }
      case DEVICE, OTHER -> handle(type, 0);
      case QP, CQ, SRQ, WQ -> {}
    }
  }

  private void handle(AsyncEventType type, long queuePair) {
    counters.asyncEvent(type.name());
    switch (type.consequence()) {
      case PORT_DOWN -> down(type.cName());
      case PORT_UP -> up(type.cName());
      case DEVICE_FAILED -> fail(type.cName());
      case ADDRESS_CHANGED -> actions.addressChanged();
      case CONNECTION_LOST -> actions.queuePairFailed(queuePair, type.cName());
      case NONE -> LOG.debug("{}", type.cName());
    }
  }

  void down(String why) {
    if (active) {
      LOG.warn("RDMA port {} is down ({}): no READs until it is up", port.number(), why);
      takeDown(ReadFailure.Kind.LOCAL_PORT, why);
    }
  }

  private void takeDown(ReadFailure.Kind kind, String why) {
    active = false;
    actions.portDown(kind, why);
    tell(false);
  }

  private void up(String why) {
    if (!active && failure == null) {
      active = true;
      LOG.info("RDMA port {} is up again ({})", port.number(), why);
      actions.portUp();
      tell(true);
    }
  }

  /** The device is lost for this process. */
  void fail(String why) {
    if (failure == null) {
      failure = why;
      LOG.error(
          "The RDMA device failed ({}): this process does no more READs. Look into the kernel's"
              + " log; a new process opens the device anew",
          why);
      if (active) {
        takeDown(ReadFailure.Kind.LOCAL_DEVICE, why);
      }
    }
  }

  private void tell(boolean state) {
    for (Consumer<Boolean> listener : listeners) {
      try {
        listener.accept(state);
      } catch (Throwable e) {
        LOG.error("A listener of the port's state failed", e);
      }
    }
  }
}
