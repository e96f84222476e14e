package dev.verbatim.verbs;

/** Address and path of an RDMA CM identifier. */
public final class RdmaRoute {
  public static final CStruct STRUCT =
      CStruct.of(
          "rdma_route",
          CTypes.struct("addr", RdmaAddr.STRUCT),
          CTypes.pointer("path_rec"),
          CTypes.i32("num_paths"));

  public static final BlockField ADDR = STRUCT.blockField("addr");
  public static final PointerField PATH_REC = STRUCT.pointerField("path_rec");
  public static final IntField NUM_PATHS = STRUCT.intField("num_paths");

  private RdmaRoute() {}
}
