package dev.verbatim.verbs;

/** Attributes of a queue pair, {@code ibv_modify_qp(3)} and {@code ibv_query_qp(3)}. */
public final class IbvQpAttr {
  public static final CStruct STRUCT =
      CStruct.of(
          "ibv_qp_attr",
          CTypes.i32("qp_state"),
          CTypes.i32("cur_qp_state"),
          CTypes.i32("path_mtu"),
          CTypes.i32("path_mig_state"),
          CTypes.i32("qkey"),
          CTypes.i32("rq_psn"),
          CTypes.i32("sq_psn"),
          CTypes.i32("dest_qp_num"),
          CTypes.i32("qp_access_flags"),
          CTypes.struct("cap", IbvQpCap.STRUCT),
          CTypes.struct("ah_attr", IbvAhAttr.STRUCT),
          CTypes.struct("alt_ah_attr", IbvAhAttr.STRUCT),
          CTypes.i16("pkey_index"),
          CTypes.i16("alt_pkey_index"),
          CTypes.i8("en_sqd_async_notify"),
          CTypes.i8("sq_draining"),
          CTypes.i8("max_rd_atomic"),
          CTypes.i8("max_dest_rd_atomic"),
          CTypes.i8("min_rnr_timer"),
          CTypes.i8("port_num"),
          CTypes.i8("timeout"),
          CTypes.i8("retry_cnt"),
          CTypes.i8("rnr_retry"),
          CTypes.i8("alt_port_num"),
          CTypes.i8("alt_timeout"),
          CTypes.i32("rate_limit"));

  /** A number of {@link QpState}. */
  public static final IntField QP_STATE = STRUCT.intField("qp_state");

  public static final IntField CUR_QP_STATE = STRUCT.intField("cur_qp_state");

  /** A number of {@link Mtu}. */
  public static final IntField PATH_MTU = STRUCT.intField("path_mtu");

  public static final IntField PATH_MIG_STATE = STRUCT.intField("path_mig_state");
  public static final IntField QKEY = STRUCT.intField("qkey");
  public static final IntField RQ_PSN = STRUCT.intField("rq_psn");
  public static final IntField SQ_PSN = STRUCT.intField("sq_psn");
  public static final IntField DEST_QP_NUM = STRUCT.intField("dest_qp_num");
  public static final IntField QP_ACCESS_FLAGS = STRUCT.intField("qp_access_flags");
  public static final BlockField AH_ATTR = STRUCT.blockField("ah_attr");
  public static final BlockField ALT_AH_ATTR = STRUCT.blockField("alt_ah_attr");
  public static final ShortField PKEY_INDEX = STRUCT.shortField("pkey_index");
  public static final ShortField ALT_PKEY_INDEX = STRUCT.shortField("alt_pkey_index");
  public static final ByteField EN_SQD_ASYNC_NOTIFY = STRUCT.byteField("en_sqd_async_notify");
  public static final ByteField SQ_DRAINING = STRUCT.byteField("sq_draining");
  public static final ByteField MAX_RD_ATOMIC = STRUCT.byteField("max_rd_atomic");
  public static final ByteField MAX_DEST_RD_ATOMIC = STRUCT.byteField("max_dest_rd_atomic");

  /** Code of the RNR NAK delay, 0 to 31. */
  public static final ByteField MIN_RNR_TIMER = STRUCT.byteField("min_rnr_timer");

  public static final ByteField PORT_NUM = STRUCT.byteField("port_num");

  /** Exponent of the ACK timeout, 4.096 us * 2^n; 0 waits for ever. */
  public static final ByteField TIMEOUT = STRUCT.byteField("timeout");

  public static final ByteField RETRY_CNT = STRUCT.byteField("retry_cnt");
  public static final ByteField RNR_RETRY = STRUCT.byteField("rnr_retry");
  public static final ByteField ALT_PORT_NUM = STRUCT.byteField("alt_port_num");
  public static final ByteField ALT_TIMEOUT = STRUCT.byteField("alt_timeout");
  public static final IntField RATE_LIMIT = STRUCT.intField("rate_limit");
  public static final IntField CAP_MAX_SEND_WR = STRUCT.intField("cap.max_send_wr");
  public static final IntField CAP_MAX_RECV_WR = STRUCT.intField("cap.max_recv_wr");
  public static final IntField CAP_MAX_SEND_SGE = STRUCT.intField("cap.max_send_sge");
  public static final IntField CAP_MAX_RECV_SGE = STRUCT.intField("cap.max_recv_sge");
  public static final IntField CAP_MAX_INLINE_DATA = STRUCT.intField("cap.max_inline_data");
  public static final BlockField AH_ATTR_GRH_DGID = STRUCT.blockField("ah_attr.grh.dgid");
  public static final ByteField AH_ATTR_GRH_SGID_INDEX = STRUCT.byteField("ah_attr.grh.sgid_index");
  public static final ByteField AH_ATTR_GRH_HOP_LIMIT = STRUCT.byteField("ah_attr.grh.hop_limit");
  public static final ByteField AH_ATTR_GRH_TRAFFIC_CLASS =
      STRUCT.byteField("ah_attr.grh.traffic_class");
  public static final ShortField AH_ATTR_DLID = STRUCT.shortField("ah_attr.dlid");
  public static final ByteField AH_ATTR_SL = STRUCT.byteField("ah_attr.sl");
  public static final ByteField AH_ATTR_IS_GLOBAL = STRUCT.byteField("ah_attr.is_global");
  public static final ByteField AH_ATTR_PORT_NUM = STRUCT.byteField("ah_attr.port_num");

  private IbvQpAttr() {}
}
