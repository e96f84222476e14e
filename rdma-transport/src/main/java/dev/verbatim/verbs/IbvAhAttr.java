package dev.verbatim.verbs;

/** The address of a peer's port. */
public final class IbvAhAttr {
  public static final CStruct STRUCT =
      CStruct.of(
          "ibv_ah_attr",
          CTypes.struct("grh", IbvGlobalRoute.STRUCT),
          CTypes.i16("dlid"),
          CTypes.i8("sl"),
          CTypes.i8("src_path_bits"),
          CTypes.i8("static_rate"),
          CTypes.i8("is_global"),
          CTypes.i8("port_num"));

  public static final BlockField GRH = STRUCT.blockField("grh");
  public static final ShortField DLID = STRUCT.shortField("dlid");
  public static final ByteField SL = STRUCT.byteField("sl");
  public static final ByteField SRC_PATH_BITS = STRUCT.byteField("src_path_bits");
  public static final ByteField STATIC_RATE = STRUCT.byteField("static_rate");
  public static final ByteField IS_GLOBAL = STRUCT.byteField("is_global");
  public static final ByteField PORT_NUM = STRUCT.byteField("port_num");

  private IbvAhAttr() {}
}
