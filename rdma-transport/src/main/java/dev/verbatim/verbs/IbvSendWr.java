package dev.verbatim.verbs;

/** A work request for the send queue, {@code ibv_post_send(3)}. */
public final class IbvSendWr {
  public static final CStruct STRUCT =
      CStruct.of(
          "ibv_send_wr",
          CTypes.i64("wr_id"),
          CTypes.pointer("next"),
          CTypes.pointer("sg_list"),
          CTypes.i32("num_sge"),
          CTypes.i32("opcode"),
          CTypes.i32("send_flags"),
          CTypes.be32("imm_data"),
          CTypes.struct(
              "wr",
              CStruct.union(
                  "wr",
                  CTypes.struct(
                      "rdma", CStruct.of("rdma", CTypes.i64("remote_addr"), CTypes.i32("rkey"))),
                  CTypes.struct(
                      "atomic",
                      CStruct.of(
                          "atomic",
                          CTypes.i64("remote_addr"),
                          CTypes.i64("compare_add"),
                          CTypes.i64("swap"),
                          CTypes.i32("rkey"))))),
          CTypes.struct(
              "qp_type",
              CStruct.of(
                  "qp_type", CTypes.struct("xrc", CStruct.of("xrc", CTypes.i32("remote_srqn"))))),
          CTypes.struct(
              "bind_mw",
              CStruct.of(
                  "bind_mw",
                  CTypes.pointer("mw"),
                  CTypes.i32("rkey"),
                  CTypes.struct(
                      "bind_info",
                      CStruct.of(
                          "ibv_mw_bind_info",
                          CTypes.pointer("mr"),
                          CTypes.i64("addr"),
                          CTypes.i64("length"),
                          CTypes.i32("mw_access_flags"))))));

  public static final LongField WR_ID = STRUCT.longField("wr_id");

  /** The next request of the chain, NULL for the last. */
  public static final PointerField NEXT = STRUCT.pointerField("next");

  public static final PointerField SG_LIST = STRUCT.pointerField("sg_list");
  public static final IntField NUM_SGE = STRUCT.intField("num_sge");

  /** One of {@code IBV_WR_*}. */
  public static final IntField OPCODE = STRUCT.intField("opcode");

  /** {@code IBV_SEND_*}. */
  public static final IntField SEND_FLAGS = STRUCT.intField("send_flags");

  /** In host byte order here, in network byte order on the wire. */
  public static final IntField IMM_DATA = STRUCT.intField("imm_data");

  public static final LongField WR_RDMA_REMOTE_ADDR = STRUCT.longField("wr.rdma.remote_addr");
  public static final IntField WR_RDMA_RKEY = STRUCT.intField("wr.rdma.rkey");

  public static final LongField WR_ATOMIC_REMOTE_ADDR = STRUCT.longField("wr.atomic.remote_addr");

  /** What to add, or to compare with. */
  public static final LongField WR_ATOMIC_COMPARE_ADD = STRUCT.longField("wr.atomic.compare_add");

  public static final LongField WR_ATOMIC_SWAP = STRUCT.longField("wr.atomic.swap");
  public static final IntField WR_ATOMIC_RKEY = STRUCT.intField("wr.atomic.rkey");

  private IbvSendWr() {}
}
