package dev.verbatim.transport;

import dev.verbatim.verbs.Posix;
import dev.verbatim.verbs.PosixConstants;
import dev.verbatim.verbs.Rlimit;
import dev.verbatim.verbs.VerbsException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
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
          + " IPC_LOCK in the Kubernetes security context, for YARN the unit or limits.conf of the"
          + " NodeManager";

  private static final int CAP_IPC_LOCK = 14;

  private final Posix posix;

  Memlock(Posix posix) {
    this.posix = posix;
  }

  /** Bytes, {@link Long#MAX_VALUE} for no limit. */
  long limit() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment rlimit = Rlimit.STRUCT.allocate(arena);
      posix.getrlimit(PosixConstants.RLIMIT_MEMLOCK, rlimit);
      long soft = Rlimit.RLIM_CUR.get(rlimit);
      return soft < 0 ? Long.MAX_VALUE : soft;
    } catch (VerbsException e) {
      return Long.MAX_VALUE;
    }
  }

  /** Whether the limit holds for this process: it is finite and no capability lifts it. */
  boolean isEnforced() {
    return limit() != Long.MAX_VALUE && !hasIpcLock();
  }

  /** For messages: whose limit it is and how large. */
  String describe() {
    long limit = limit();
    return "RLIMIT_MEMLOCK of this process (pid "
        + ProcessHandle.current().pid()
        + ") is "
        + (limit == Long.MAX_VALUE ? "unlimited" : limit + " bytes");
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
