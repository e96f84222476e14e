package dev.verbatim.verbs;

/** A channel of RDMA CM events, {@code rdma_create_event_channel(3)}. */
public final class RdmaEventChannel {
  public static final CStruct STRUCT = CStruct.of("rdma_event_channel", CTypes.i32("fd"));

  public static final IntField FD = STRUCT.intField("fd");

  private RdmaEventChannel() {}
}
