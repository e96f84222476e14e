package dev.verbatim.transport;

import dev.verbatim.verbs.NativeEnum;
import dev.verbatim.verbs.WcStatus;

/** Says in the transport's terms what a work completion status means for a batch. */
final class ReadFailures {
  private ReadFailures() {}

  static ReadFailure.Kind kind(WcStatus status) {
    return switch (status.consequence()) {
      case PEER_REFUSED -> ReadFailure.Kind.REMOTE_ACCESS;
      case PEER_UNREACHABLE -> ReadFailure.Kind.PEER_UNREACHABLE;
      case CONNECTION_LOST -> ReadFailure.Kind.DISCONNECTED;
      case DEVICE_FAILED -> ReadFailure.Kind.LOCAL_DEVICE;
      case OUR_FAULT, NONE -> ReadFailure.Kind.OTHER;
    };
  }

  static ReadFailure of(WcStatus status, int number, int vendorError, PeerAddress peer) {
    return new ReadFailure(
        kind(status),
        "READ from "
            + peer
            + " ended with "
            + NativeEnum.describe(status, number)
            + ", vendor error "
            + vendorError);
  }
}
