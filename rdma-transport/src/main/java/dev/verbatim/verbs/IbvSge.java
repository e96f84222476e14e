package dev.verbatim.verbs;

/** A scatter/gather element. */
public final class IbvSge {
  public static final CStruct STRUCT =
      CStruct.of("ibv_sge", CTypes.i64("addr"), CTypes.i32("length"), CTypes.i32("lkey"));

  public static final LongField ADDR = STRUCT.longField("addr");
  public static final IntField LENGTH = STRUCT.intField("length");
  public static final IntField LKEY = STRUCT.intField("lkey");

  private IbvSge() {}
}
