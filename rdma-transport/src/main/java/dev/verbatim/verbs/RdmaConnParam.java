package dev.verbatim.verbs;

import java.lang.foreign.MemorySegment;

/** Parameters of a connection, {@code rdma_connect(3)} and {@code rdma_accept(3)}. */
public final class RdmaConnParam {
  public static final CStruct STRUCT =
      CStruct.of(
          "rdma_conn_param",
          CTypes.pointer("private_data"),
          CTypes.i8("private_data_len"),
          CTypes.i8("responder_resources"),
          CTypes.i8("initiator_depth"),
          CTypes.i8("flow_control"),
          CTypes.i8("retry_count"),
          CTypes.i8("rnr_retry_count"),
          CTypes.i8("srq"),
          CTypes.i32("qp_num"));

  public static final PointerField PRIVATE_DATA = STRUCT.pointerField("private_data");

  /** Bytes; in an event possibly more than the peer sent, padded with zeros. */
  public static final ByteField PRIVATE_DATA_LEN = STRUCT.byteField("private_data_len");

  /** READs of the peer that this side serves at a time. */
  public static final ByteField RESPONDER_RESOURCES = STRUCT.byteField("responder_resources");

  /** READs that this side has outstanding. */
  public static final ByteField INITIATOR_DEPTH = STRUCT.byteField("initiator_depth");

  public static final ByteField FLOW_CONTROL = STRUCT.byteField("flow_control");
  public static final ByteField RETRY_COUNT = STRUCT.byteField("retry_count");
  public static final ByteField RNR_RETRY_COUNT = STRUCT.byteField("rnr_retry_count");
  public static final ByteField SRQ = STRUCT.byteField("srq");
  public static final IntField QP_NUM = STRUCT.intField("qp_num");

  private RdmaConnParam() {}

  /** What is negotiated, for messages. */
  static String describe(MemorySegment param) {
    return "responderResources="
        + RESPONDER_RESOURCES.get(param)
        + ", initiatorDepth="
        + INITIATOR_DEPTH.get(param)
        + ", privateData="
        + PRIVATE_DATA_LEN.get(param)
        + " bytes";
  }
}
