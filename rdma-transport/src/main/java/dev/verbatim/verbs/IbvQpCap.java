package dev.verbatim.verbs;

/** Sizes of a queue pair. */
public final class IbvQpCap {
  public static final CStruct STRUCT =
      CStruct.of(
          "ibv_qp_cap",
          CTypes.i32("max_send_wr"),
          CTypes.i32("max_recv_wr"),
          CTypes.i32("max_send_sge"),
          CTypes.i32("max_recv_sge"),
          CTypes.i32("max_inline_data"));

  public static final IntField MAX_SEND_WR = STRUCT.intField("max_send_wr");
  public static final IntField MAX_RECV_WR = STRUCT.intField("max_recv_wr");
  public static final IntField MAX_SEND_SGE = STRUCT.intField("max_send_sge");
  public static final IntField MAX_RECV_SGE = STRUCT.intField("max_recv_sge");
  public static final IntField MAX_INLINE_DATA = STRUCT.intField("max_inline_data");

  private IbvQpCap() {}
}
