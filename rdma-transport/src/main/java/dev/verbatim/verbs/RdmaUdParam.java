package dev.verbatim.verbs;

/** Parameters of a datagram peer; only its size matters here. */
public final class RdmaUdParam {
  public static final CStruct STRUCT =
      CStruct.of(
          "rdma_ud_param",
          CTypes.pointer("private_data"),
          CTypes.i8("private_data_len"),
          CTypes.struct("ah_attr", IbvAhAttr.STRUCT),
          CTypes.i32("qp_num"),
          CTypes.i32("qkey"));

  private RdmaUdParam() {}
}
