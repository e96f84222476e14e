package dev.verbatim.verbs;

/** An RDMA CM identifier, {@code rdma_create_id(3)}. */
public final class RdmaCmId {
  public static final CStruct STRUCT =
      CStruct.of(
          "rdma_cm_id",
          CTypes.pointer("verbs"),
          CTypes.pointer("channel"),
          CTypes.pointer("context"),
          CTypes.pointer("qp"),
          CTypes.struct("route", RdmaRoute.STRUCT),
          CTypes.i32("ps"),
          CTypes.i8("port_num"),
          CTypes.pointer("event"),
          CTypes.pointer("send_cq_channel"),
          CTypes.pointer("send_cq"),
          CTypes.pointer("recv_cq_channel"),
          CTypes.pointer("recv_cq"),
          CTypes.pointer("srq"),
          CTypes.pointer("pd"),
          CTypes.i32("qp_type"));

  /** The {@link IbvContext} that the identifier is bound to, NULL before. */
  public static final PointerField VERBS = STRUCT.pointerField("verbs");

  public static final PointerField CHANNEL = STRUCT.pointerField("channel");
  public static final PointerField CONTEXT = STRUCT.pointerField("context");
  public static final PointerField QP = STRUCT.pointerField("qp");
  public static final IntField PS = STRUCT.intField("ps");

  /** Port that the identifier is bound to, 0 before. */
  public static final ByteField PORT_NUM = STRUCT.byteField("port_num");

  public static final PointerField PD = STRUCT.pointerField("pd");
  public static final IntField QP_TYPE = STRUCT.intField("qp_type");

  /** What {@code rdma_get_local_addr(3)} answers, for {@link Sockaddr#read}. */
  public static final BlockField LOCAL_ADDR = STRUCT.blockField("route.addr.src_storage");

  /** What {@code rdma_get_peer_addr(3)} answers, for {@link Sockaddr#read}. */
  public static final BlockField PEER_ADDR = STRUCT.blockField("route.addr.dst_storage");

  public static final BlockField SGID = STRUCT.blockField("route.addr.addr.ibaddr.sgid");
  public static final BlockField DGID = STRUCT.blockField("route.addr.addr.ibaddr.dgid");

  private RdmaCmId() {}
}
