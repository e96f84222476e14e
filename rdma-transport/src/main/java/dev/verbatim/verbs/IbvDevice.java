package dev.verbatim.verbs;

/** A device in the list of {@code ibv_get_device_list(3)}. */
public final class IbvDevice {
  public static final CStruct STRUCT =
      CStruct.of(
          "ibv_device",
          CTypes.struct(
              "_ops",
              CStruct.of("_ibv_device_ops", CTypes.pointer("_dummy1"), CTypes.pointer("_dummy2"))),
          CTypes.i32("node_type"),
          CTypes.i32("transport_type"),
          CTypes.bytes("name", 64),
          CTypes.bytes("dev_name", 64),
          CTypes.bytes("dev_path", 256),
          CTypes.bytes("ibdev_path", 256));

  /** A number of {@link NodeType}. */
  public static final IntField NODE_TYPE = STRUCT.intField("node_type");

  /** A number of {@link TransportType}. */
  public static final IntField TRANSPORT_TYPE = STRUCT.intField("transport_type");

  public static final BlockField NAME = STRUCT.blockField("name");
  public static final BlockField DEV_NAME = STRUCT.blockField("dev_name");
  public static final BlockField DEV_PATH = STRUCT.blockField("dev_path");
  public static final BlockField IBDEV_PATH = STRUCT.blockField("ibdev_path");

  private IbvDevice() {}
}
