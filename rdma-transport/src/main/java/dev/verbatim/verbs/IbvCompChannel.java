package dev.verbatim.verbs;

/** A completion channel, {@code ibv_create_comp_channel(3)}. */
public final class IbvCompChannel {
  public static final CStruct STRUCT =
      CStruct.of(
          "ibv_comp_channel", CTypes.pointer("context"), CTypes.i32("fd"), CTypes.i32("refcnt"));

  public static final PointerField CONTEXT = STRUCT.pointerField("context");
  public static final IntField FD = STRUCT.intField("fd");
  public static final IntField REFCNT = STRUCT.intField("refcnt");

  private IbvCompChannel() {}
}
