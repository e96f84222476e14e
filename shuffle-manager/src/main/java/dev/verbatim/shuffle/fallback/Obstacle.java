package dev.verbatim.shuffle.fallback;

import dev.verbatim.transport.OpenResult;

/**
 * Why this process does not use RDMA.
 *
 * @param reason the kind
 * @param seen what was found
 * @param remedy what would help
 */
public record Obstacle(FallbackReason reason, String seen, String remedy) {

  public static Obstacle of(FallbackReason reason, String seen) {
    return new Obstacle(reason, seen, reason.remedy());
  }

  public static Obstacle of(OpenResult.Unavailable unavailable) {
    return new Obstacle(
        FallbackReason.of(unavailable.reason()), unavailable.seen(), unavailable.remedy());
  }

  /** The one line that the log has about it. */
  public String describe() {
    return "RDMA off: " + reason + ", " + seen + "; to change it: " + remedy;
  }
}
