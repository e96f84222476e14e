package dev.verbatim.transport;

/**
 * Why a batch of READs did not succeed. When it is reported, the device will not touch the batch's
 * buffers any more.
 *
 * @param kind what a caller acts on
 * @param detail what was seen, with names and numbers
 */
public record ReadFailure(Kind kind, String detail) {

  /** What a caller acts on. */
  public enum Kind {
    /** The peer refused the access: stale or wrong rkey, address or length. */
    REMOTE_ACCESS,
    /** The peer did not answer in time (retries exceeded). */
    PEER_UNREACHABLE,
    /** The batch's own deadline passed. */
    DEADLINE,
    /** The connection went down before or during the batch. */
    DISCONNECTED,
    /** The own port went down. */
    LOCAL_PORT,
    /** The own device failed, for good. */
    LOCAL_DEVICE,
    /** Anything else that a completion reported. */
    OTHER
  }
}
