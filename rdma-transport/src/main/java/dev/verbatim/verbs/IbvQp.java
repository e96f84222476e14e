package dev.verbatim.verbs;

/** A queue pair, {@code ibv_create_qp(3)}. */
public final class IbvQp {
  public static final CStruct STRUCT =
      CStruct.of(
          "ibv_qp",
          CTypes.pointer("context"),
          CTypes.pointer("qp_context"),
          CTypes.pointer("pd"),
          CTypes.pointer("send_cq"),
          CTypes.pointer("recv_cq"),
          CTypes.pointer("srq"),
          CTypes.i32("handle"),
          CTypes.i32("qp_num"),
          CTypes.i32("state"),
          CTypes.i32("qp_type"),
          CTypes.mutex("mutex"),
          CTypes.condition("cond"),
          CTypes.i32("events_completed"));

  public static final PointerField CONTEXT = STRUCT.pointerField("context");
  public static final PointerField QP_CONTEXT = STRUCT.pointerField("qp_context");
  public static final PointerField PD = STRUCT.pointerField("pd");
  public static final PointerField SEND_CQ = STRUCT.pointerField("send_cq");
  public static final PointerField RECV_CQ = STRUCT.pointerField("recv_cq");
  public static final PointerField SRQ = STRUCT.pointerField("srq");
  public static final IntField HANDLE = STRUCT.intField("handle");
  public static final IntField QP_NUM = STRUCT.intField("qp_num");

  /** A number of {@link QpState}, as the library last set it. */
  public static final IntField STATE = STRUCT.intField("state");

  public static final IntField QP_TYPE = STRUCT.intField("qp_type");

  private IbvQp() {}
}
