package dev.verbatim.verbs;

/** Properties and limits of a device, {@code ibv_query_device(3)}. */
public final class IbvDeviceAttr {
  public static final CStruct STRUCT =
      CStruct.of(
          "ibv_device_attr",
          CTypes.bytes("fw_ver", 64),
          CTypes.be64("node_guid"),
          CTypes.be64("sys_image_guid"),
          CTypes.i64("max_mr_size"),
          CTypes.i64("page_size_cap"),
          CTypes.i32("vendor_id"),
          CTypes.i32("vendor_part_id"),
          CTypes.i32("hw_ver"),
          CTypes.i32("max_qp"),
          CTypes.i32("max_qp_wr"),
          CTypes.i32("device_cap_flags"),
          CTypes.i32("max_sge"),
          CTypes.i32("max_sge_rd"),
          CTypes.i32("max_cq"),
          CTypes.i32("max_cqe"),
          CTypes.i32("max_mr"),
          CTypes.i32("max_pd"),
          CTypes.i32("max_qp_rd_atom"),
          CTypes.i32("max_ee_rd_atom"),
          CTypes.i32("max_res_rd_atom"),
          CTypes.i32("max_qp_init_rd_atom"),
          CTypes.i32("max_ee_init_rd_atom"),
          CTypes.i32("atomic_cap"),
          CTypes.i32("max_ee"),
          CTypes.i32("max_rdd"),
          CTypes.i32("max_mw"),
          CTypes.i32("max_raw_ipv6_qp"),
          CTypes.i32("max_raw_ethy_qp"),
          CTypes.i32("max_mcast_grp"),
          CTypes.i32("max_mcast_qp_attach"),
          CTypes.i32("max_total_mcast_qp_attach"),
          CTypes.i32("max_ah"),
          CTypes.i32("max_fmr"),
          CTypes.i32("max_map_per_fmr"),
          CTypes.i32("max_srq"),
          CTypes.i32("max_srq_wr"),
          CTypes.i32("max_srq_sge"),
          CTypes.i16("max_pkeys"),
          CTypes.i8("local_ca_ack_delay"),
          CTypes.i8("phys_port_cnt"));

  public static final BlockField FW_VER = STRUCT.blockField("fw_ver");
  public static final LongField NODE_GUID = STRUCT.longField("node_guid");
  public static final LongField SYS_IMAGE_GUID = STRUCT.longField("sys_image_guid");

  /** Longest memory region, bytes. */
  public static final LongField MAX_MR_SIZE = STRUCT.longField("max_mr_size");

  public static final LongField PAGE_SIZE_CAP = STRUCT.longField("page_size_cap");
  public static final IntField VENDOR_ID = STRUCT.intField("vendor_id");
  public static final IntField VENDOR_PART_ID = STRUCT.intField("vendor_part_id");
  public static final IntField HW_VER = STRUCT.intField("hw_ver");
  public static final IntField MAX_QP = STRUCT.intField("max_qp");
  public static final IntField MAX_QP_WR = STRUCT.intField("max_qp_wr");
  public static final IntField DEVICE_CAP_FLAGS = STRUCT.intField("device_cap_flags");
  public static final IntField MAX_SGE = STRUCT.intField("max_sge");
  public static final IntField MAX_SGE_RD = STRUCT.intField("max_sge_rd");
  public static final IntField MAX_CQ = STRUCT.intField("max_cq");
  public static final IntField MAX_CQE = STRUCT.intField("max_cqe");
  public static final IntField MAX_MR = STRUCT.intField("max_mr");
  public static final IntField MAX_PD = STRUCT.intField("max_pd");

  /** READs that a queue pair can serve at a time. */
  public static final IntField MAX_QP_RD_ATOM = STRUCT.intField("max_qp_rd_atom");

  public static final IntField MAX_RES_RD_ATOM = STRUCT.intField("max_res_rd_atom");

  /** READs that a queue pair can have outstanding. */
  public static final IntField MAX_QP_INIT_RD_ATOM = STRUCT.intField("max_qp_init_rd_atom");

  /** {@code IBV_ATOMIC_NONE}, or which operations are atomic to each other. */
  public static final IntField ATOMIC_CAP = STRUCT.intField("atomic_cap");

  public static final IntField MAX_SRQ = STRUCT.intField("max_srq");
  public static final IntField MAX_SRQ_WR = STRUCT.intField("max_srq_wr");
  public static final IntField MAX_SRQ_SGE = STRUCT.intField("max_srq_sge");
  public static final ShortField MAX_PKEYS = STRUCT.shortField("max_pkeys");
  public static final ByteField LOCAL_CA_ACK_DELAY = STRUCT.byteField("local_ca_ack_delay");
  public static final ByteField PHYS_PORT_CNT = STRUCT.byteField("phys_port_cnt");

  private IbvDeviceAttr() {}
}
