package dev.verbatim.verbs;

/** A memory region, {@code ibv_reg_mr(3)}. */
public final class IbvMr {
  public static final CStruct STRUCT =
      CStruct.of(
          "ibv_mr",
          CTypes.pointer("context"),
          CTypes.pointer("pd"),
          CTypes.pointer("addr"),
          CTypes.i64("length"),
          CTypes.i32("handle"),
          CTypes.i32("lkey"),
          CTypes.i32("rkey"));

  public static final PointerField CONTEXT = STRUCT.pointerField("context");
  public static final PointerField PD = STRUCT.pointerField("pd");
  public static final PointerField ADDR = STRUCT.pointerField("addr");
  public static final LongField LENGTH = STRUCT.longField("length");
  public static final IntField HANDLE = STRUCT.intField("handle");
  public static final IntField LKEY = STRUCT.intField("lkey");
  public static final IntField RKEY = STRUCT.intField("rkey");

  private IbvMr() {}
}
