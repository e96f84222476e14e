package dev.verbatim.verbs;

/** A file descriptor to wait for, {@code poll(2)}. */
public final class Pollfd {
  public static final CStruct STRUCT =
      CStruct.of("pollfd", CTypes.i32("fd"), CTypes.i16("events"), CTypes.i16("revents"));

  public static final IntField FD = STRUCT.intField("fd");
  public static final ShortField EVENTS = STRUCT.shortField("events");
  public static final ShortField REVENTS = STRUCT.shortField("revents");

  private Pollfd() {}
}
