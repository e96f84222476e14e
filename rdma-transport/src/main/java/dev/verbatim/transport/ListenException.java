package dev.verbatim.transport;

import dev.verbatim.verbs.VerbsException;

/** The listener could not be made, which has other remedies than a lack of resources. */
final class ListenException extends Exception {
  private static final long serialVersionUID = 1L;

  private final VerbsException reason;

  ListenException(VerbsException reason) {
    super(reason.getMessage(), reason);
    this.reason = reason;
  }

  VerbsException reason() {
    return reason;
  }
}
