package dev.verbatim.verbs;

import java.lang.foreign.MemorySegment;

/** What a queue pair is created with, {@code ibv_create_qp(3)}. */
public final class IbvQpInitAttr {
  public static final CStruct STRUCT =
      CStruct.of(
          "ibv_qp_init_attr",
          CTypes.pointer("qp_context"),
          CTypes.pointer("send_cq"),
          CTypes.pointer("recv_cq"),
          CTypes.pointer("srq"),
          CTypes.struct("cap", IbvQpCap.STRUCT),
          CTypes.i32("qp_type"),
          CTypes.i32("sq_sig_all"));

  public static final PointerField QP_CONTEXT = STRUCT.pointerField("qp_context");
  public static final PointerField SEND_CQ = STRUCT.pointerField("send_cq");
  public static final PointerField RECV_CQ = STRUCT.pointerField("recv_cq");
  public static final PointerField SRQ = STRUCT.pointerField("srq");
  public static final IntField QP_TYPE = STRUCT.intField("qp_type");
  public static final IntField SQ_SIG_ALL = STRUCT.intField("sq_sig_all");
  public static final IntField CAP_MAX_SEND_WR = STRUCT.intField("cap.max_send_wr");
  public static final IntField CAP_MAX_RECV_WR = STRUCT.intField("cap.max_recv_wr");
  public static final IntField CAP_MAX_SEND_SGE = STRUCT.intField("cap.max_send_sge");
  public static final IntField CAP_MAX_RECV_SGE = STRUCT.intField("cap.max_recv_sge");
  public static final IntField CAP_MAX_INLINE_DATA = STRUCT.intField("cap.max_inline_data");

  private IbvQpInitAttr() {}

  /** The sizes, for messages. */
  static String describe(MemorySegment initAttr) {
    return "maxSendWr="
        + CAP_MAX_SEND_WR.get(initAttr)
        + ", maxRecvWr="
        + CAP_MAX_RECV_WR.get(initAttr)
        + ", maxSendSge="
        + CAP_MAX_SEND_SGE.get(initAttr);
  }
}
