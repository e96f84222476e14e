package dev.verbatim.shuffle.registry;

/** Bytes that are not a message of ours. */
final class MalformedMessageException extends Exception {
  private static final long serialVersionUID = 1L;

  MalformedMessageException(String message, Throwable cause) {
    super(message, cause);
  }
}
