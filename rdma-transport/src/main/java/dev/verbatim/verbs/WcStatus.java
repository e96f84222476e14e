package dev.verbatim.verbs;

/** How a work request ended, {@code ibv_wc_status_str(3)}. */
public enum WcStatus implements NativeEnum {
  /** The request is done. */
  SUCCESS(0, Consequence.NONE),
  /** The scatter list does not fit the message or the port's maximal message. */
  LOC_LEN_ERR(1, Consequence.OUR_FAULT),
  /** The request is malformed for this queue pair. */
  LOC_QP_OP_ERR(2, Consequence.OUR_FAULT),
  /** An end-to-end context refused the request (reliable datagram only). */
  LOC_EEC_OP_ERR(3, Consequence.OUR_FAULT),
  /** The scatter list's lkey does not cover the memory. */
  LOC_PROT_ERR(4, Consequence.OUR_FAULT),
  /** The queue pair was in the error state before the request could run. */
  WR_FLUSH_ERR(5, Consequence.CONNECTION_LOST),
  /** A memory window could not be bound. */
  MW_BIND_ERR(6, Consequence.OUR_FAULT),
  /** The peer sent an unexpected packet. */
  BAD_RESP_ERR(7, Consequence.CONNECTION_LOST),
  /** A local protection error while data of an RDMA WRITE with immediate arrived. */
  LOC_ACCESS_ERR(8, Consequence.OUR_FAULT),
  /** The peer found the request invalid: READ not allowed on its queue pair, or a bad length. */
  REM_INV_REQ_ERR(9, Consequence.PEER_REFUSED),
  /** The peer's memory region does not allow it: stale or wrong rkey, address or length. */
  REM_ACCESS_ERR(10, Consequence.PEER_REFUSED),
  /** The peer could not complete the request. */
  REM_OP_ERR(11, Consequence.PEER_REFUSED),
  /** No acknowledgement after all retries: the peer, its port or the path is gone. */
  RETRY_EXC_ERR(12, Consequence.PEER_UNREACHABLE),
  /** The peer said not-ready too often. */
  RNR_RETRY_EXC_ERR(13, Consequence.PEER_UNREACHABLE),
  /** Reliable datagram domain violation. */
  LOC_RDD_VIOL_ERR(14, Consequence.OUR_FAULT),
  /** The peer found a reliable datagram request invalid. */
  REM_INV_RD_REQ_ERR(15, Consequence.PEER_REFUSED),
  /** The peer aborted the operation. */
  REM_ABORT_ERR(16, Consequence.CONNECTION_LOST),
  /** Invalid end-to-end context number. */
  INV_EECN_ERR(17, Consequence.OUR_FAULT),
  /** The end-to-end context is in a wrong state. */
  INV_EEC_STATE_ERR(18, Consequence.OUR_FAULT),
  /** The device failed. */
  FATAL_ERR(19, Consequence.DEVICE_FAILED),
  /** No response in time. */
  RESP_TIMEOUT_ERR(20, Consequence.PEER_UNREACHABLE),
  /** An error of the transport that has no other name. */
  GENERAL_ERR(21, Consequence.CONNECTION_LOST),
  /** Tag matching failed. */
  TM_ERR(22, Consequence.OUR_FAULT),
  /** A tag matching rendezvous is incomplete. */
  TM_RNDV_INCOMPLETE(23, Consequence.OUR_FAULT),
  /** A number that this program does not know. */
  UNKNOWN(UNKNOWN_NUMBER, Consequence.CONNECTION_LOST);

  private static final NativeEnum.Table<WcStatus> TABLE = new NativeEnum.Table<>(values());

  private final int number;
  private final Consequence consequence;

  WcStatus(int number, Consequence consequence) {
    this.number = number;
    this.consequence = consequence;
  }

  /** The constant of a number; {@link #UNKNOWN} for one that is not known. */
  public static WcStatus of(int number) {
    return TABLE.of(number, UNKNOWN);
  }

  @Override
  public int number() {
    return number;
  }

  @Override
  public String cName() {
    return "IBV_WC_" + name();
  }

  /** What follows; the one place that decides it. */
  public Consequence consequence() {
    return consequence;
  }

  /**
   * What follows from a status. In every case but NONE the queue pair is in the error state, so its
   * connection is torn down and the blocks of the request are fetched over TCP.
   */
  public enum Consequence {
    /** Nothing: the request succeeded. */
    NONE,
    /**
     * The peer is alive but refuses this memory: only its data is at fault, connect again at once.
     */
    PEER_REFUSED,
    /** The peer does not answer: wait for the back-off before connecting again. */
    PEER_UNREACHABLE,
    /** The connection broke, often as a consequence of another request's failure. */
    CONNECTION_LOST,
    /** The request was wrong: a defect of this program or of the driver, to be reported loudly. */
    OUR_FAULT,
    /** The device is lost for this process: use TCP until it is opened anew. */
    DEVICE_FAILED
  }
}
