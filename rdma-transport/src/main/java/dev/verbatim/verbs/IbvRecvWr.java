package dev.verbatim.verbs;

/** A work request for the receive queue, {@code ibv_post_recv(3)}. */
public final class IbvRecvWr {
  public static final CStruct STRUCT =
      CStruct.of(
          "ibv_recv_wr",
          CTypes.i64("wr_id"),
          CTypes.pointer("next"),
          CTypes.pointer("sg_list"),
          CTypes.i32("num_sge"));

  public static final LongField WR_ID = STRUCT.longField("wr_id");
  public static final PointerField NEXT = STRUCT.pointerField("next");
  public static final PointerField SG_LIST = STRUCT.pointerField("sg_list");
  public static final IntField NUM_SGE = STRUCT.intField("num_sge");

  private IbvRecvWr() {}
}
