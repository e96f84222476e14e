package dev.verbatim.transport;

import dev.verbatim.verbs.Posix;
import dev.verbatim.verbs.Rlimit;
import dev.verbatim.verbs.VerbsException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** A limit that the kernel sets this very process, {@code getrlimit(2)}. */
final class ResourceLimit {
  private ResourceLimit() {}

  /**
   * The soft limit, {@link Long#MAX_VALUE} for none.
   *
   * @param resource {@code RLIMIT_*}
   */
  static long soft(Posix posix, int resource) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment rlimit = Rlimit.STRUCT.allocate(arena);
      posix.getrlimit(resource, rlimit);
      long soft = Rlimit.RLIM_CUR.get(rlimit);
      return soft < 0 ? Long.MAX_VALUE : soft;
    } catch (VerbsException e) {
      return Long.MAX_VALUE;
    }
  }

  /** For messages. */
  static String describe(long bytes) {
    return bytes == Long.MAX_VALUE ? "unlimited" : bytes + " bytes";
  }
}
