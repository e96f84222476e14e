package dev.verbatim.shuffle.doctor;

/** How a check has ended; the later, the worse. */
public enum Verdict {
  /** As it should be, or nothing that RDMA on this host needs. */
  OK,
  /** Could not be seen; what was seen says why. */
  UNKNOWN,
  /** RDMA works, but slower or with less of it than could be. */
  WARNING,
  /** RDMA does not work, or loses what makes it worth while. */
  PROBLEM;

  /** Of a process that has come to it: 0 also where something could not be seen. */
  int exitCode() {
    return switch (this) {
      case OK, UNKNOWN -> 0;
      case WARNING -> 1;
      case PROBLEM -> 2;
    };
  }
}
