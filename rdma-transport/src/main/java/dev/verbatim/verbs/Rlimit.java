package dev.verbatim.verbs;

/** A resource limit, {@code getrlimit(2)}. */
public final class Rlimit {
  public static final CStruct STRUCT =
      CStruct.of("rlimit", CTypes.i64("rlim_cur"), CTypes.i64("rlim_max"));

  public static final LongField RLIM_CUR = STRUCT.longField("rlim_cur");
  public static final LongField RLIM_MAX = STRUCT.longField("rlim_max");

  private Rlimit() {}
}
