package dev.verbatim.verbs;

/** A completion queue, {@code ibv_create_cq(3)}. */
public final class IbvCq {
  public static final CStruct STRUCT =
      CStruct.of(
          "ibv_cq",
          CTypes.pointer("context"),
          CTypes.pointer("channel"),
          CTypes.pointer("cq_context"),
          CTypes.i32("handle"),
          CTypes.i32("cqe"),
          CTypes.mutex("mutex"),
          CTypes.condition("cond"),
          CTypes.i32("comp_events_completed"),
          CTypes.i32("async_events_completed"));

  public static final PointerField CONTEXT = STRUCT.pointerField("context");
  public static final PointerField CHANNEL = STRUCT.pointerField("channel");
  public static final PointerField CQ_CONTEXT = STRUCT.pointerField("cq_context");
  public static final IntField HANDLE = STRUCT.intField("handle");
  public static final IntField CQE = STRUCT.intField("cqe");

  private IbvCq() {}
}
