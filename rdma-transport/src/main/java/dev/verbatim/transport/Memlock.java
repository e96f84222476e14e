package dev.verbatim.transport;

import dev.verbatim.verbs.Posix;
import dev.verbatim.verbs.PosixConstants;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Tells of the limit of pinned memory of this very process, because the one of a login shell, which
 * people look at, is often another.
 */
final class Memlock {
  /** What an operator does about it. */
  static final String REMEDY =
      "raise the limit of locked memory of this process: LimitMEMLOCK=infinity in the systemd unit"
          + " of the worker or node manager, docker run --ulimit memlock=-1, the capability"
          + " IPC_LOCK in the Kubernetes security context (of root only, else the unit of the"
          + " container runtime), for YARN the unit or limits.conf of the NodeManager";

  private static final int CAP_IPC_LOCK = 14;

  private final Posix posix;

  Memlock(Posix posix) {
    this.posix = posix;
  }

  /** Bytes, {@link Long#MAX_VALUE} for no limit. */
  long limit() {
    return ResourceLimit.soft(posix, PosixConstants.RLIMIT_MEMLOCK);
  }

  /** Whether the limit holds for this process: it is finite and no capability lifts it. */
  boolean isEnforced() {
    return limit() != Long.MAX_VALUE && !hasIpcLock();
  }

  /** For messages: whose limit it is and how large. */
  String describe() {
    return "RLIMIT_MEMLOCK of this process (pid "
        + ProcessHandle.current().pid()
        + ") is "
        + ResourceLimit.describe(limit());
  }

  private static boolean hasIpcLock() {
    try {
      for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
        if (line.startsWith("CapEff:")) {
          long capabilities = Long.parseUnsignedLong(line.substring(7).trim(), 16);
          return (capabilities >>> CAP_IPC_LOCK & 1) != 0;
        }
      }
    } catch (IOException e) {
      return false;
    }
    return false;
  }
}
