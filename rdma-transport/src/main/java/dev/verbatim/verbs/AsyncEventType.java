package dev.verbatim.verbs;

/** What an asynchronous event says, {@code ibv_get_async_event(3)}. */
public enum AsyncEventType implements NativeEnum {
  /** A completion queue overran or failed. */
  CQ_ERR(0, Scope.CQ, Consequence.DEVICE_FAILED),
  /** A queue pair failed. */
  QP_FATAL(1, Scope.QP, Consequence.CONNECTION_LOST),
  /** A queue pair received an invalid request. */
  QP_REQ_ERR(2, Scope.QP, Consequence.CONNECTION_LOST),
  /** A queue pair received a request that violates access rights. */
  QP_ACCESS_ERR(3, Scope.QP, Consequence.CONNECTION_LOST),
  /** A packet arrived before the connection was established. */
  COMM_EST(4, Scope.QP, Consequence.NONE),
  /** The send queue is drained. */
  SQ_DRAINED(5, Scope.QP, Consequence.NONE),
  /** The path migrated. */
  PATH_MIG(6, Scope.QP, Consequence.NONE),
  /** The path could not migrate. */
  PATH_MIG_ERR(7, Scope.QP, Consequence.NONE),
  /** The device failed. */
  DEVICE_FATAL(8, Scope.DEVICE, Consequence.DEVICE_FAILED),
  /** A port became active. */
  PORT_ACTIVE(9, Scope.PORT, Consequence.PORT_UP),
  /** A port is no longer active. */
  PORT_ERR(10, Scope.PORT, Consequence.PORT_DOWN),
  /** The port's LID changed. */
  LID_CHANGE(11, Scope.PORT, Consequence.ADDRESS_CHANGED),
  /** The port's partition key table changed. */
  PKEY_CHANGE(12, Scope.PORT, Consequence.NONE),
  /** The subnet manager changed. */
  SM_CHANGE(13, Scope.PORT, Consequence.NONE),
  /** A shared receive queue failed. */
  SRQ_ERR(14, Scope.SRQ, Consequence.NONE),
  /** A shared receive queue runs low. */
  SRQ_LIMIT_REACHED(15, Scope.SRQ, Consequence.NONE),
  /** A queue pair took its last request from a shared receive queue. */
  QP_LAST_WQE_REACHED(16, Scope.QP, Consequence.NONE),
  /** The subnet manager asks clients to register again. */
  CLIENT_REREGISTER(17, Scope.PORT, Consequence.NONE),
  /** The port's GID table changed. */
  GID_CHANGE(18, Scope.PORT, Consequence.ADDRESS_CHANGED),
  /** A work queue failed. */
  WQ_FATAL(19, Scope.WQ, Consequence.NONE),
  /** A number that this program does not know. */
  UNKNOWN(UNKNOWN_NUMBER, Scope.OTHER, Consequence.NONE);

  private static final NativeEnum.Table<AsyncEventType> TABLE = new NativeEnum.Table<>(values());

  private final int number;
  private final Scope scope;
  private final Consequence consequence;

  AsyncEventType(int number, Scope scope, Consequence consequence) {
    this.number = number;
    this.scope = scope;
    this.consequence = consequence;
  }

  /** The constant of a number; {@link #UNKNOWN} for one that is not known. */
  public static AsyncEventType of(int number) {
    return TABLE.of(number, UNKNOWN);
  }

  @Override
  public int number() {
    return number;
  }

  @Override
  public String cName() {
    return "IBV_EVENT_" + name();
  }

  /** What the event is about. */
  public Scope scope() {
    return scope;
  }

  /** What follows; the one place that decides it. */
  public Consequence consequence() {
    return consequence;
  }

  /** What an event is about, and so which member of its element is valid. */
  public enum Scope {
    /** {@code element.cq}. */
    CQ,
    /** {@code element.qp}. */
    QP,
    /** {@code element.srq}. */
    SRQ,
    /** {@code element.wq}. */
    WQ,
    /** {@code element.port_num}: look at it, a device may have other ports. */
    PORT,
    /** The whole device. */
    DEVICE,
    /** Not known. */
    OTHER
  }

  /** What follows from an event for what it is about. */
  public enum Consequence {
    /** Nothing but a counter. */
    NONE,
    /** The queue pair's connection is to be torn down. */
    CONNECTION_LOST,
    /** Use TCP until the port is up. */
    PORT_DOWN,
    /** RDMA may be used again, with fresh port attributes and new connections. */
    PORT_UP,
    /** Existing connections may go on; look the port's addresses up again. */
    ADDRESS_CHANGED,
    /** Use TCP; the device must be opened anew. */
    DEVICE_FAILED
  }
}
