package dev.verbatim.verbs;

/** Source and destination address of an RDMA CM identifier. */
public final class RdmaAddr {
  public static final CStruct STRUCT =
      CStruct.of(
          "rdma_addr",
          CTypes.longs("src_storage", 16),
          CTypes.longs("dst_storage", 16),
          CTypes.struct(
              "addr",
              CStruct.of(
                  "addr",
                  CTypes.struct(
                      "ibaddr",
                      CStruct.of(
                          "rdma_ib_addr",
                          CTypes.struct("sgid", IbvGid.STRUCT),
                          CTypes.struct("dgid", IbvGid.STRUCT),
                          CTypes.be16("pkey"))))));

  public static final BlockField SRC_STORAGE = STRUCT.blockField("src_storage");
  public static final BlockField DST_STORAGE = STRUCT.blockField("dst_storage");
  public static final BlockField ADDR_IBADDR_SGID = STRUCT.blockField("addr.ibaddr.sgid");
  public static final BlockField ADDR_IBADDR_DGID = STRUCT.blockField("addr.ibaddr.dgid");

  private RdmaAddr() {}
}
