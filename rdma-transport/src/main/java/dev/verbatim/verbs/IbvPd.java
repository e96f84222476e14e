package dev.verbatim.verbs;

/** A protection domain, {@code ibv_alloc_pd(3)}. */
public final class IbvPd {
  public static final CStruct STRUCT =
      CStruct.of("ibv_pd", CTypes.pointer("context"), CTypes.i32("handle"));

  public static final PointerField CONTEXT = STRUCT.pointerField("context");
  public static final IntField HANDLE = STRUCT.intField("handle");

  private IbvPd() {}
}
