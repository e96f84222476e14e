package dev.verbatim.shuffle.doctor;

/** How a check has ended; the later, the worse. */
public enum Verdict {
  /** As it should be, or nothing that RDMA on this host needs. */
  OK,
  /** Could not be seen, and nobody asked for it by name; what was seen says why. */
  UNKNOWN,
  /**
   * RDMA works, but slower or with less of it than could be; or what was asked for could not be
   * examined.
   */
  WARNING,
  /** RDMA does not work, or loses what makes it worth while. */
  PROBLEM;

  /** Of a process that has come to it: 0 also where something that was not asked for is unknown. */
  int exitCode() {
    return switch (this) {
      case OK, UNKNOWN -> 0;
      case WARNING -> 1;
      case PROBLEM -> 2;
    };
  }
}
