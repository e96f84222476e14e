package dev.verbatim.verbs;

/** A native call failed; the message names the function, its arguments and the errno. */
public final class VerbsException extends Exception {
  private static final long serialVersionUID = 1L;

  private final String function;
  private final int errno;

  /**
   * @param function name of the C function
   * @param errno as {@code errno(3)}, or 0 where the call does not report one
   * @param arguments those that matter, for example {@code length=4096, access=4}; may be empty
   */
  public VerbsException(String function, int errno, String arguments) {
    super(
        function
            + "("
            + arguments
            + ") failed: "
            + (errno == 0 ? "no errno" : Errno.name(errno) + " (errno " + errno + ")"));
    this.function = function;
    this.errno = errno;
  }

  /** Name of the C function. */
  public String function() {
    return function;
  }

  /** The number, to compare with the constants of {@link Errno}; 0 where none was reported. */
  public int errno() {
    return errno;
  }

  /** The errno's name, for example {@code ENOMEM}. */
  public String errnoName() {
    return Errno.name(errno);
  }
}
