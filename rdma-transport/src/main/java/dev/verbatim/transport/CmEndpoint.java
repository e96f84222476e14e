package dev.verbatim.transport;

import dev.verbatim.verbs.IbvQpInitAttr;
import dev.verbatim.verbs.RdmaCm;
import dev.verbatim.verbs.RdmaCmId;
import dev.verbatim.verbs.VerbsConstants;
import dev.verbatim.verbs.VerbsException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One RDMA CM identifier and its queue pair, with the order in which they are given up. Touched by
 * the event thread only.
 */
final class CmEndpoint {
  private static final Logger LOG = LoggerFactory.getLogger(CmEndpoint.class);

  /** Receives the events of one identifier. */
  @FunctionalInterface
  interface Handler {
    void onEvent(CmEndpoint endpoint, CmEvent event);
  }

  private final CmEndpoints owner;
  private final RdmaCm rdmaCm;
  private final MemorySegment id;
  private final Handler handler;
  private boolean hasQueuePair;
  private boolean destroyed;

  CmEndpoint(CmEndpoints owner, RdmaCm rdmaCm, MemorySegment id, Handler handler) {
    this.owner = owner;
    this.rdmaCm = rdmaCm;
    this.id = RdmaCmId.STRUCT.at(id);
    this.handler = handler;
  }

  MemorySegment id() {
    return id;
  }

  void onEvent(CmEvent event) {
    handler.onEvent(this, event);
  }

  /** The context of the device that the identifier is bound to; address 0 before. */
  long contextAddress() {
    return RdmaCmId.VERBS.getAddress(id);
  }

  MemorySegment queuePair() {
    return RdmaCmId.QP.get(id);
  }

  /** The queue pair's address, 0 when there is none. */
  long queuePairAddress() {
    return hasQueuePair ? RdmaCmId.QP.getAddress(id) : 0;
  }

  void createQueuePair(MemorySegment pd, MemorySegment completionQueue, int sendRequests)
      throws VerbsException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment attr = IbvQpInitAttr.STRUCT.allocate(arena);
      IbvQpInitAttr.SEND_CQ.set(attr, completionQueue);
      IbvQpInitAttr.RECV_CQ.set(attr, completionQueue);
      IbvQpInitAttr.QP_TYPE.set(attr, VerbsConstants.IBV_QPT_RC);
      IbvQpInitAttr.CAP_MAX_SEND_WR.set(attr, sendRequests);
      // Nothing is ever received, but some providers do not make an empty queue.
      IbvQpInitAttr.CAP_MAX_RECV_WR.set(attr, 1);
      IbvQpInitAttr.CAP_MAX_SEND_SGE.set(attr, 1);
      IbvQpInitAttr.CAP_MAX_RECV_SGE.set(attr, 1);
      rdmaCm.createQp(id, pd, attr);
    }
    hasQueuePair = true;
    owner.counters().queuePairs.incrementAndGet();
  }

  /**
   * Has packets carry a traffic class, if it is not 0.
   *
   * @param value from 0 to 255
   */
  void setTrafficClass(int value) {
    if (value != 0) {
      setOption(
          VerbsConstants.RDMA_OPTION_ID_TOS,
          value,
          "trafficClass=%d is not in force, packets travel in the system's default class"
              .formatted(value),
          "set the device's default by cma_roce_tos, or trafficClass=0");
    }
  }

  /**
   * Has the device repeat what is not answered in time.
   *
   * @param exponent of 2, times 4.096 microseconds
   */
  void setAckTimeout(int exponent) {
    setOption(
        VerbsConstants.RDMA_OPTION_ID_ACK_TIMEOUT,
        exponent,
        "an ACK timeout of 2^%d * 4.096 us is not in force, the device's own is"
            .formatted(exponent),
        "use a newer kernel and rdma-core");
  }

  /** Goes on without an option of one byte that the library or the kernel refuses. */
  private void setOption(int name, int value, String consequence, String remedy) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment data = arena.allocate(1);
      data.set(ValueLayout.JAVA_BYTE, 0, (byte) value);
      rdmaCm.setOption(id, VerbsConstants.RDMA_OPTION_ID, name, data, 1);
    } catch (VerbsException e) {
      if (owner.isFirstRefusal(name)) {
        LOG.warn("{}: {}. To change it: {}. Said once.", consequence, e.getMessage(), remedy);
      }
    }
  }

  /**
   * Tells the peer that the connection ends and moves the queue pair to the error state; nothing
   * while the port is down.
   */
  void disconnect() {
    if (!owner.mayDisconnect()) {
      return;
    }
    try {
      rdmaCm.disconnect(id);
    } catch (VerbsException e) {
      LOG.debug("{}", e.getMessage());
    }
  }

  /** After this the device touches no buffer of the queue pair's work requests any more. */
  void destroyQueuePair() {
    if (hasQueuePair) {
      hasQueuePair = false;
      rdmaCm.destroyQp(id);
      owner.counters().queuePairs.decrementAndGet();
    }
  }

  /** Gives up the identifier; events of it that are on their way are dropped. */
  void destroy() {
    if (!destroyed) {
      destroyed = true;
      destroyQueuePair();
      owner.remove(this);
    }
  }

  void destroyId() {
    try {
      rdmaCm.destroyId(id);
    } catch (VerbsException e) {
      LOG.warn("{}", e.getMessage());
    }
  }
}
