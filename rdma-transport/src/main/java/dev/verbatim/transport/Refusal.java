package dev.verbatim.transport;

/**
 * Why an incoming connection is not accepted, as it travels in the reject's private data. The order
 * is part of the protocol: append only.
 */
enum Refusal {
  /** No reason of ours: the peer's stack refused by itself. */
  UNKNOWN("the peer gave no reason"),
  /** The request does not begin as ours do. */
  NOT_VERBATIM("the request is not one of this protocol"),
  /** Another version of the protocol. */
  VERSION("the peer speaks another version of this protocol"),
  /** The peer belongs to another application. */
  APPLICATION("the peer belongs to another application"),
  /** The proof of the application's secret is wrong. */
  PROOF("the proof of the application's secret is wrong"),
  /** The same request was seen before. */
  REPLAY("the same request was seen before"),
  /** The request was meant for another process: its address has a new owner. */
  WRONG_PEER("the process at this address is another one than was asked for"),
  /** The process keeps as many queue pairs as it may. */
  BUDGET("the peer keeps as many queue pairs as it may"),
  /** One of the devices allows no outstanding READ. */
  NO_READ("one of the devices allows no outstanding READ"),
  /** The process is closing or its port is down. */
  CLOSING("the peer is closing or its port is down"),
  /** A verbs call failed while accepting. */
  ERROR("a verbs call failed at the peer");

  private static final Refusal[] VALUES = values();

  private final String meaning;

  Refusal(String meaning) {
    this.meaning = meaning;
  }

  String meaning() {
    return meaning;
  }

  byte code() {
    return (byte) ordinal();
  }

  static Refusal of(int code) {
    return code > 0 && code < VALUES.length ? VALUES[code] : UNKNOWN;
  }
}
