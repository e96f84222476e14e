package dev.verbatim.verbs;

/** A work completion, {@code ibv_poll_cq(3)}. */
public final class IbvWc {
  public static final CStruct STRUCT =
      CStruct.of(
          "ibv_wc",
          CTypes.i64("wr_id"),
          CTypes.i32("status"),
          CTypes.i32("opcode"),
          CTypes.i32("vendor_err"),
          CTypes.i32("byte_len"),
          CTypes.be32("imm_data"),
          CTypes.i32("qp_num"),
          CTypes.i32("src_qp"),
          CTypes.i32("wc_flags"),
          CTypes.i16("pkey_index"),
          CTypes.i16("slid"),
          CTypes.i8("sl"),
          CTypes.i8("dlid_path_bits"));

  public static final LongField WR_ID = STRUCT.longField("wr_id");

  /**
   * A number of {@link WcStatus}. When it is not SUCCESS only this, the wr_id, qp_num and
   * vendor_err are valid.
   */
  public static final IntField STATUS = STRUCT.intField("status");

  /** One of {@code IBV_WC_*}. */
  public static final IntField OPCODE = STRUCT.intField("opcode");

  public static final IntField VENDOR_ERR = STRUCT.intField("vendor_err");
  public static final IntField BYTE_LEN = STRUCT.intField("byte_len");

  /** Valid with {@code IBV_WC_WITH_IMM}; in host byte order here. */
  public static final IntField IMM_DATA = STRUCT.intField("imm_data");

  public static final IntField QP_NUM = STRUCT.intField("qp_num");
  public static final IntField SRC_QP = STRUCT.intField("src_qp");

  /** {@code IBV_WC_WITH_IMM} and others. */
  public static final IntField WC_FLAGS = STRUCT.intField("wc_flags");

  public static final ShortField PKEY_INDEX = STRUCT.shortField("pkey_index");
  public static final ShortField SLID = STRUCT.shortField("slid");
  public static final ByteField SL = STRUCT.byteField("sl");
  public static final ByteField DLID_PATH_BITS = STRUCT.byteField("dlid_path_bits");

  private IbvWc() {}
}
