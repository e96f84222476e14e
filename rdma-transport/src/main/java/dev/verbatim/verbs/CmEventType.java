package dev.verbatim.verbs;

/** What an RDMA CM event says, {@code rdma_get_cm_event(3)}. */
public enum CmEventType implements NativeEnum {
  /** The address is resolved and the identifier bound to a device. */
  ADDR_RESOLVED(0, Consequence.PROGRESS),
  /** The address could not be resolved. */
  ADDR_ERROR(1, Consequence.CONNECT_FAILED),
  /** The route is resolved. */
  ROUTE_RESOLVED(2, Consequence.PROGRESS),
  /** The route could not be resolved. */
  ROUTE_ERROR(3, Consequence.CONNECT_FAILED),
  /** A peer wants to connect; the event's identifier is new and owned by the receiver. */
  CONNECT_REQUEST(4, Consequence.INCOMING),
  /** The peer answered and the identifier has no queue pair of its own. */
  CONNECT_RESPONSE(5, Consequence.PROGRESS),
  /** Connecting or accepting failed. */
  CONNECT_ERROR(6, Consequence.CONNECT_FAILED),
  /** The peer is not reachable or did not answer. */
  UNREACHABLE(7, Consequence.CONNECT_FAILED),
  /** The peer refused, or nobody listens there. */
  REJECTED(8, Consequence.CONNECT_FAILED),
  /** The connection is up. */
  ESTABLISHED(9, Consequence.ESTABLISHED),
  /** The connection is down. */
  DISCONNECTED(10, Consequence.DISCONNECTED),
  /** The device is gone: the identifier and all that it owns must be destroyed. */
  DEVICE_REMOVAL(11, Consequence.DEVICE_REMOVED),
  /** Joined a multicast group. */
  MULTICAST_JOIN(12, Consequence.IGNORED),
  /** Joining a multicast group failed. */
  MULTICAST_ERROR(13, Consequence.IGNORED),
  /** The identifier's network interface changed its hardware address: reconnect. */
  ADDR_CHANGE(14, Consequence.DISCONNECTED),
  /** The queue pair's time of waiting is over and its number may be reused. */
  TIMEWAIT_EXIT(15, Consequence.IGNORED),
  /** A number that this program does not know. */
  UNKNOWN(UNKNOWN_NUMBER, Consequence.IGNORED);

  private static final NativeEnum.Table<CmEventType> TABLE = new NativeEnum.Table<>(values());

  private final int number;
  private final Consequence consequence;

  CmEventType(int number, Consequence consequence) {
    this.number = number;
    this.consequence = consequence;
  }

  /** The constant of a number; {@link #UNKNOWN} for one that is not known. */
  public static CmEventType of(int number) {
    return TABLE.of(number, UNKNOWN);
  }

  @Override
  public int number() {
    return number;
  }

  @Override
  public String cName() {
    return "RDMA_CM_EVENT_" + name();
  }

  /** What follows for the identifier; the one place that decides it. */
  public Consequence consequence() {
    return consequence;
  }

  /** What follows from an event for its identifier. */
  public enum Consequence {
    /** The next step of connecting may be taken. */
    PROGRESS,
    /** A request to accept or to reject. */
    INCOMING,
    /** The connection is up. */
    ESTABLISHED,
    /** Connecting ended without a connection. */
    CONNECT_FAILED,
    /** An established connection is over. */
    DISCONNECTED,
    /** The device is gone with everything on it. */
    DEVICE_REMOVED,
    /** Nothing follows but the acknowledgement. */
    IGNORED
  }
}
