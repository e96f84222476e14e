package dev.verbatim.transport;

import dev.verbatim.verbs.IbvWc;
import dev.verbatim.verbs.VerbsConstants;
import dev.verbatim.verbs.WcStatus;
import java.lang.foreign.MemorySegment;

/** Reads one entry of a completion queue, in place; the poller's. */
final class WorkEnd {
  private final MemorySegment completions;
  private int index;

  /**
   * @param completions array of {@link IbvWc}
   */
  WorkEnd(MemorySegment completions) {
    this.completions = completions;
  }

  WorkEnd at(int entry) {
    index = entry;
    return this;
  }

  long number() {
    return IbvWc.WR_ID.get(completions, index);
  }

  /** What it says of the request, of which only the poster knows what it was. */
  WorkCompletion of(long id, WorkOperation posted) {
    int number = IbvWc.STATUS.get(completions, index);
    WcStatus status = WcStatus.of(number);
    if (status != WcStatus.SUCCESS) {
      int vendorError = IbvWc.VENDOR_ERR.get(completions, index);
      return new WorkCompletion(id, posted, status, number, vendorError, 0, false, 0);
    }
    if (posted != WorkOperation.RECEIVE) {
      return new WorkCompletion(id, posted, status, number, 0, 0, false, 0);
    }
    boolean written =
        IbvWc.OPCODE.get(completions, index) == VerbsConstants.IBV_WC_RECV_RDMA_WITH_IMM;
    boolean immediate =
        (IbvWc.WC_FLAGS.get(completions, index) & VerbsConstants.IBV_WC_WITH_IMM) != 0;
    return new WorkCompletion(
        id,
        written ? WorkOperation.RECEIVE_OF_WRITE : WorkOperation.RECEIVE,
        status,
        number,
        0,
        Integer.toUnsignedLong(IbvWc.BYTE_LEN.get(completions, index)),
        immediate,
        immediate ? IbvWc.IMM_DATA.get(completions, index) : 0);
  }
}
