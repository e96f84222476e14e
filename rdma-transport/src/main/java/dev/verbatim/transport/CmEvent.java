package dev.verbatim.transport;

import dev.verbatim.verbs.CmEventType;
import dev.verbatim.verbs.Errno;
import dev.verbatim.verbs.RdmaCmEvent;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * A copy of an RDMA CM event, so that the event itself can be acknowledged before anything is done
 * about it: an identifier cannot be destroyed before all its events are.
 *
 * @param id the identifier, never NULL
 * @param listenId the listener of a CONNECT_REQUEST
 * @param status 0, a negative errno, or the transport's reason for REJECTED
 * @param privateData what the peer sent, possibly padded with zeros
 * @param responderResources READs that this side is asked to serve at a time
 * @param initiatorDepth READs that the peer serves at a time
 */
record CmEvent(
    CmEventType type,
    MemorySegment id,
    MemorySegment listenId,
    int status,
    byte[] privateData,
    int responderResources,
    int initiatorDepth) {

  private static final byte[] NONE = {};

  static CmEvent of(MemorySegment event) {
    CmEventType type = CmEventType.of(RdmaCmEvent.EVENT.get(event));
    MemorySegment data = RdmaCmEvent.PRIVATE_DATA.get(event);
    int length = RdmaCmEvent.PRIVATE_DATA_LEN.get(event) & 0xff;
    boolean carries =
        switch (type) {
          case CONNECT_REQUEST, CONNECT_RESPONSE, ESTABLISHED, REJECTED -> true;
          default -> false;
        };
    byte[] copy =
        carries && data.address() != 0 && length > 0
            ? data.reinterpret(length).toArray(ValueLayout.JAVA_BYTE)
            : NONE;
    return new CmEvent(
        type,
        RdmaCmEvent.ID.get(event),
        RdmaCmEvent.LISTEN_ID.get(event),
        RdmaCmEvent.STATUS.get(event),
        copy,
        RdmaCmEvent.RESPONDER_RESOURCES.get(event) & 0xff,
        RdmaCmEvent.INITIATOR_DEPTH.get(event) & 0xff);
  }

  /** For messages. */
  String describe() {
    if (status == 0) {
      return type.cName();
    }
    String meaning = status < 0 ? Errno.name(-status) : "status " + status;
    return type.cName() + " (" + meaning + ")";
  }
}
