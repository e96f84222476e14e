package dev.verbatim.transport;

import dev.verbatim.verbs.NativeEnum;
import dev.verbatim.verbs.VerbsException;
import dev.verbatim.verbs.WcStatus;

/** Says in the transport's terms what a work completion status means for a batch. */
final class ReadFailures {
  /** For errors that leave no memory to say more. */
  static final ReadFailure ERROR =
      new ReadFailure(ReadFailure.Kind.OTHER, "an error, and no memory to say which");

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

  /** Posting has thrown. */
  static ReadFailure notPosted(Throwable e) {
    try {
      String why = e instanceof VerbsException ? e.getMessage() : e.toString();
      return new ReadFailure(ReadFailure.Kind.OTHER, why);
    } catch (OutOfMemoryError again) {
      return ERROR;
    }
  }

  /** The time of a batch is over. */
  static ReadFailure late(ReadBatch batch, PeerAddress peer, long timeoutNanos) {
    return new ReadFailure(
        ReadFailure.Kind.DEADLINE,
        ("%d READs of %d bytes from %s did not end within %d ms")
            .formatted(batch.size(), batch.bytes(), peer, timeoutNanos / 1_000_000));
  }

  /** What a batch is told that did not cause its connection's failure itself. */
  static ReadFailure asConsequence(ReadFailure failure, PeerAddress peer) {
    return switch (failure.kind()) {
      case PEER_UNREACHABLE, DISCONNECTED, LOCAL_PORT, LOCAL_DEVICE -> failure;
      case REMOTE_ACCESS, DEADLINE, OTHER ->
          new ReadFailure(
              ReadFailure.Kind.DISCONNECTED,
              "another READ of the connection to " + peer + " failed: " + failure.detail());
    };
  }
}
