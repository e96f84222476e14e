package dev.verbatim.verbs;

/** The route in the network layer. */
public final class IbvGlobalRoute {
  public static final CStruct STRUCT =
      CStruct.of(
          "ibv_global_route",
          CTypes.struct("dgid", IbvGid.STRUCT),
          CTypes.i32("flow_label"),
          CTypes.i8("sgid_index"),
          CTypes.i8("hop_limit"),
          CTypes.i8("traffic_class"));

  public static final BlockField DGID = STRUCT.blockField("dgid");
  public static final IntField FLOW_LABEL = STRUCT.intField("flow_label");
  public static final ByteField SGID_INDEX = STRUCT.byteField("sgid_index");
  public static final ByteField HOP_LIMIT = STRUCT.byteField("hop_limit");
  public static final ByteField TRAFFIC_CLASS = STRUCT.byteField("traffic_class");

  private IbvGlobalRoute() {}
}
