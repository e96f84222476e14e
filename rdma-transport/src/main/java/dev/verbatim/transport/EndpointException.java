package dev.verbatim.transport;

/** What an endpoint or a group of them was asked for failed; the message says what would help. */
public final class EndpointException extends Exception {
  private static final long serialVersionUID = 1L;

  public EndpointException(String message) {
    super(message);
  }

  public EndpointException(String message, Throwable cause) {
    super(message, cause);
  }
}
