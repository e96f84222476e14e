package dev.verbatim.transport;

import java.util.Objects;

/** What {@link RdmaTransport#open} answers: a transport, or why there is none. */
public sealed interface OpenResult {

  /** An open transport, to be closed by its receiver. */
  record Opened(RdmaTransport transport) implements OpenResult {
    public Opened {
      Objects.requireNonNull(transport);
    }
  }

  /**
   * No transport.
   *
   * @param reason the kind of obstacle
   * @param seen what was looked at and found: names, numbers, errno
   * @param remedy what would help, as an instruction to an operator
   */
  record Unavailable(UnavailableReason reason, String seen, String remedy) implements OpenResult {
    public Unavailable {
      Objects.requireNonNull(reason);
      Objects.requireNonNull(seen);
      Objects.requireNonNull(remedy);
    }
  }
}
