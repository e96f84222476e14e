package dev.verbatim.transport;

/** Memory could not be registered; the message names the function, the size and the errno. */
public final class RegistrationException extends Exception {
  private static final long serialVersionUID = 1L;

  /** Why, as far as a caller acts on it. */
  public enum Kind {
    /** ENOMEM or EPERM under {@code RLIMIT_MEMLOCK}. */
    MEMLOCK,
    /** The kernel will not pin pages of this file (EFAULT, EINVAL, EOPNOTSUPP). */
    NOT_PINNABLE,
    /** This process can map no more memory: {@code vm.max_map_count}, {@code RLIMIT_AS}. */
    MAPPING,
    /** The file could not be opened or mapped, or is shorter than asked. */
    FILE,
    /** The device has no room for another region, or anything else that it reported. */
    DEVICE
  }

  private final Kind kind;

  public RegistrationException(Kind kind, String message) {
    super(message);
    this.kind = kind;
  }

  public RegistrationException(Kind kind, String message, Throwable cause) {
    super(message, cause);
    this.kind = kind;
  }

  public Kind kind() {
    return kind;
  }
}
