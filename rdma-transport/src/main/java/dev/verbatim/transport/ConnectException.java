package dev.verbatim.transport;

/** A connection to a peer could not be made; the message names the step, the event and the peer. */
public final class ConnectException extends Exception {
  private static final long serialVersionUID = 1L;

  public ConnectException(String message) {
    super(message);
  }

  public ConnectException(String message, Throwable cause) {
    super(message, cause);
  }
}
