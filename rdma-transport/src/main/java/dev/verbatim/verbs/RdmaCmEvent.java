package dev.verbatim.verbs;

/** An RDMA CM event, {@code rdma_get_cm_event(3)}. */
public final class RdmaCmEvent {
  public static final CStruct STRUCT =
      CStruct.of(
          "rdma_cm_event",
          CTypes.pointer("id"),
          CTypes.pointer("listen_id"),
          CTypes.i32("event"),
          CTypes.i32("status"),
          CTypes.struct(
              "param",
              CStruct.union(
                  "param",
                  CTypes.struct("conn", RdmaConnParam.STRUCT),
                  CTypes.struct("ud", RdmaUdParam.STRUCT))));

  public static final PointerField ID = STRUCT.pointerField("id");
  public static final PointerField LISTEN_ID = STRUCT.pointerField("listen_id");

  /** A number of {@link CmEventType}. */
  public static final IntField EVENT = STRUCT.intField("event");

  /** 0, a negative errno, or for REJECTED the reason of the transport. */
  public static final IntField STATUS = STRUCT.intField("status");

  public static final PointerField PRIVATE_DATA = STRUCT.pointerField("param.conn.private_data");
  public static final ByteField PRIVATE_DATA_LEN = STRUCT.byteField("param.conn.private_data_len");
  public static final ByteField RESPONDER_RESOURCES =
      STRUCT.byteField("param.conn.responder_resources");
  public static final ByteField INITIATOR_DEPTH = STRUCT.byteField("param.conn.initiator_depth");
  public static final ByteField RETRY_COUNT = STRUCT.byteField("param.conn.retry_count");

  private RdmaCmEvent() {}
}
