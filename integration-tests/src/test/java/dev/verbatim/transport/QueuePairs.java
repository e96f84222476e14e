package dev.verbatim.transport;

import dev.verbatim.verbs.IbvQpAttr;
import dev.verbatim.verbs.IbvQpInitAttr;
import dev.verbatim.verbs.NativeLibraries;
import dev.verbatim.verbs.Verbs;
import dev.verbatim.verbs.VerbsConstants;
import dev.verbatim.verbs.VerbsException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/** What the device says of a connection's queue pairs: {@code ibv_query_qp(3)}. */
public final class QueuePairs {
  private QueuePairs() {}

  /**
   * A connected queue pair.
   *
   * @param readDepth READs that it may have outstanding
   * @param retries retransmissions of a packet that is not acknowledged
   * @param rnrRetries retransmissions to a peer that is not ready, 7 for ever
   * @param sendQueueDepth work requests that it may have posted, at least what was asked for
   */
  public record Attributes(int readDepth, int retries, int rnrRetries, int sendQueueDepth) {}

  /** Those of an open connection, which must stay so meanwhile. */
  public static List<Attributes> of(PeerConnection connection) throws VerbsException {
    Verbs verbs = ((NativeLibraries.Loaded) NativeLibraries.load()).verbs();
    int mask =
        VerbsConstants.IBV_QP_MAX_QP_RD_ATOMIC
            | VerbsConstants.IBV_QP_RETRY_CNT
            | VerbsConstants.IBV_QP_RNR_RETRY;
    List<Attributes> all = new ArrayList<>();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment attr = IbvQpAttr.STRUCT.allocate(arena);
      MemorySegment initAttr = IbvQpInitAttr.STRUCT.allocate(arena);
      for (CmEndpoint endpoint : connection.endpoints()) {
        verbs.queryQp(endpoint.queuePair(), attr, mask, initAttr);
        all.add(
            new Attributes(
                IbvQpAttr.MAX_RD_ATOMIC.get(attr) & 0xff,
                IbvQpAttr.RETRY_CNT.get(attr),
                IbvQpAttr.RNR_RETRY.get(attr),
                IbvQpInitAttr.CAP_MAX_SEND_WR.get(initAttr)));
      }
    }
    return all;
  }
}
