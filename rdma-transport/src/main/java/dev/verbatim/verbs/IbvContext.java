package dev.verbatim.verbs;

/** An open device, {@code ibv_open_device(3)}. */
public final class IbvContext {
  public static final CStruct STRUCT =
      CStruct.of(
          "ibv_context",
          CTypes.pointer("device"),
          CTypes.struct("ops", IbvContextOps.STRUCT),
          CTypes.i32("cmd_fd"),
          CTypes.i32("async_fd"),
          CTypes.i32("num_comp_vectors"),
          CTypes.mutex("mutex"),
          CTypes.pointer("abi_compat"));

  public static final PointerField DEVICE = STRUCT.pointerField("device");
  public static final IntField CMD_FD = STRUCT.intField("cmd_fd");

  /** File descriptor that is readable when an asynchronous event waits. */
  public static final IntField ASYNC_FD = STRUCT.intField("async_fd");

  public static final IntField NUM_COMP_VECTORS = STRUCT.intField("num_comp_vectors");

  /** All bits set where a {@code struct verbs_context} surrounds this one. */
  public static final PointerField ABI_COMPAT = STRUCT.pointerField("abi_compat");

  public static final PointerField OPS_POLL_CQ = STRUCT.pointerField("ops.poll_cq");
  public static final PointerField OPS_REQ_NOTIFY_CQ = STRUCT.pointerField("ops.req_notify_cq");
  public static final PointerField OPS_POST_SEND = STRUCT.pointerField("ops.post_send");
  public static final PointerField OPS_POST_RECV = STRUCT.pointerField("ops.post_recv");

  private IbvContext() {}
}
