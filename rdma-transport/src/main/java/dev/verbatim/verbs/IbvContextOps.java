package dev.verbatim.verbs;

/** Function pointers of an open device's driver. */
public final class IbvContextOps {
  public static final CStruct STRUCT =
      CStruct.of(
          "ibv_context_ops",
          CTypes.pointer("_compat_query_device"),
          CTypes.pointer("_compat_query_port"),
          CTypes.pointer("_compat_alloc_pd"),
          CTypes.pointer("_compat_dealloc_pd"),
          CTypes.pointer("_compat_reg_mr"),
          CTypes.pointer("_compat_rereg_mr"),
          CTypes.pointer("_compat_dereg_mr"),
          CTypes.pointer("alloc_mw"),
          CTypes.pointer("bind_mw"),
          CTypes.pointer("dealloc_mw"),
          CTypes.pointer("_compat_create_cq"),
          CTypes.pointer("poll_cq"),
          CTypes.pointer("req_notify_cq"),
          CTypes.pointer("_compat_cq_event"),
          CTypes.pointer("_compat_resize_cq"),
          CTypes.pointer("_compat_destroy_cq"),
          CTypes.pointer("_compat_create_srq"),
          CTypes.pointer("_compat_modify_srq"),
          CTypes.pointer("_compat_query_srq"),
          CTypes.pointer("_compat_destroy_srq"),
          CTypes.pointer("post_srq_recv"),
          CTypes.pointer("_compat_create_qp"),
          CTypes.pointer("_compat_query_qp"),
          CTypes.pointer("_compat_modify_qp"),
          CTypes.pointer("_compat_destroy_qp"),
          CTypes.pointer("post_send"),
          CTypes.pointer("post_recv"),
          CTypes.pointer("_compat_create_ah"),
          CTypes.pointer("_compat_destroy_ah"),
          CTypes.pointer("_compat_attach_mcast"),
          CTypes.pointer("_compat_detach_mcast"),
          CTypes.pointer("_compat_async_event"));

  public static final PointerField POLL_CQ = STRUCT.pointerField("poll_cq");
  public static final PointerField REQ_NOTIFY_CQ = STRUCT.pointerField("req_notify_cq");
  public static final PointerField POST_SEND = STRUCT.pointerField("post_send");
  public static final PointerField POST_RECV = STRUCT.pointerField("post_recv");

  private IbvContextOps() {}
}
