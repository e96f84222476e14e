package dev.verbatim.verbs;

/** One entry of a port's GID table, {@code ibv_query_gid_table(3)}. */
public final class IbvGidEntry {
  public static final CStruct STRUCT =
      CStruct.of(
          "ibv_gid_entry",
          CTypes.struct("gid", IbvGid.STRUCT),
          CTypes.i32("gid_index"),
          CTypes.i32("port_num"),
          CTypes.i32("gid_type"),
          CTypes.i32("ndev_ifindex"));

  public static final BlockField GID = STRUCT.blockField("gid");
  public static final IntField GID_INDEX = STRUCT.intField("gid_index");
  public static final IntField PORT_NUM = STRUCT.intField("port_num");

  /** A number of {@link GidType}. */
  public static final IntField GID_TYPE = STRUCT.intField("gid_type");

  /** Index of the network interface, 0 where there is none. */
  public static final IntField NDEV_IFINDEX = STRUCT.intField("ndev_ifindex");

  private IbvGidEntry() {}
}
