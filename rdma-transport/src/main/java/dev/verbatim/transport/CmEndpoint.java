package dev.verbatim.transport;

import dev.verbatim.verbs.IbvQpInitAttr;
import dev.verbatim.verbs.RdmaCm;
import dev.verbatim.verbs.RdmaCmId;
import dev.verbatim.verbs.Sockaddr;
import dev.verbatim.verbs.VerbsConstants;
import dev.verbatim.verbs.VerbsException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
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

  /**
   * Asks which way leads to a peer; ADDR_RESOLVED tells.
   *
   * @param source the own address, to leave by its device
   * @param millis longest time
   */
  void resolveAddress(InetAddress source, InetSocketAddress peer, int millis)
      throws VerbsException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment own = Sockaddr.allocate(arena, new InetSocketAddress(source, 0));
      rdmaCm.resolveAddr(id, own, Sockaddr.allocate(arena, peer), millis);
    }
  }

  /**
   * A queue pair that only READs, or is only read from.
   *
   * @param sendRequests work requests that may be posted
   */
  void createQueuePair(MemorySegment pd, MemorySegment completionQueue, int sendRequests)
      throws VerbsException {
    // Nothing is ever received, but some providers do not make an empty queue.
    createQueuePair(pd, completionQueue, new QueuePairSizes(sendRequests, 1, 1, 0));
  }

  /**
   * @return bytes of inline data that a request may have, at least what was asked for
   */
  int createQueuePair(MemorySegment pd, MemorySegment completionQueue, QueuePairSizes sizes)
      throws VerbsException {
    int inline;
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment attr = IbvQpInitAttr.STRUCT.allocate(arena);
      IbvQpInitAttr.SEND_CQ.set(attr, completionQueue);
      IbvQpInitAttr.RECV_CQ.set(attr, completionQueue);
      IbvQpInitAttr.QP_TYPE.set(attr, VerbsConstants.IBV_QPT_RC);
      IbvQpInitAttr.CAP_MAX_SEND_WR.set(attr, sizes.sendRequests());
      IbvQpInitAttr.CAP_MAX_RECV_WR.set(attr, sizes.receiveRequests());
      IbvQpInitAttr.CAP_MAX_SEND_SGE.set(attr, sizes.slices());
      IbvQpInitAttr.CAP_MAX_RECV_SGE.set(attr, sizes.slices());
      IbvQpInitAttr.CAP_MAX_INLINE_DATA.set(attr, sizes.inlineBytes());
      rdmaCm.createQp(id, pd, attr);
      inline = IbvQpInitAttr.CAP_MAX_INLINE_DATA.get(attr);
    }
    hasQueuePair = true;
    owner.counters().queuePairs.incrementAndGet();
    return inline;
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

  /** Answers a request with a refusal; best effort, since the peer's own deadline ends it too. */
  void reject(byte[] privateData) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment data = arena.allocate(Math.max(1, privateData.length));
      MemorySegment.copy(privateData, 0, data, ValueLayout.JAVA_BYTE, 0, privateData.length);
      rdmaCm.reject(id, data, privateData.length);
    } catch (VerbsException | RuntimeException | Error e) {
      LOG.debug("{}", e.toString());
    }
  }

  /**
   * Tells the peer that the connection ends and moves the queue pair to the error state; nothing
   * while the port is down. Best effort, as to destroy the queue pair does the rest.
   */
  void disconnect() {
    try {
      if (!destroyed && owner.mayDisconnect()) {
        rdmaCm.disconnect(id);
      }
    } catch (VerbsException | RuntimeException | Error e) {
      LOG.debug("{}", e.toString());
    }
  }

  /**
   * After this the device touches no buffer of the queue pair's work requests any more. To be
   * called again when it has thrown.
   */
  void destroyQueuePair() {
    if (!hasQueuePair) {
      return;
    }
    if (RdmaCmId.QP.getAddress(id) != 0) { // or else it was destroyed before something was thrown
      rdmaCm.destroyQp(id);
    }
    hasQueuePair = false;
    owner.counters().queuePairs.decrementAndGet();
  }

  /**
   * Gives up the identifier; events of it that are on their way are dropped. Throws nothing: what
   * cannot be destroyed now will be tried again.
   */
  void destroy() {
    if (!destroyed) {
      destroyed = true;
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
