package dev.verbatim.shuffle.writer;

import dev.verbatim.shuffle.fallback.FallbackReason;

/** A map output is left to TCP. */
final class DeclinedException extends Exception {
  private static final long serialVersionUID = 1L;

  private final FallbackReason reason;

  DeclinedException(FallbackReason reason, String message) {
    super(message);
    this.reason = reason;
  }

  FallbackReason reason() {
    return reason;
  }
}
