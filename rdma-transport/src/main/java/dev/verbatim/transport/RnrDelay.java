package dev.verbatim.transport;

import java.time.Duration;

/** The steps of the time that a device waits before it repeats what found no receive. */
final class RnrDelay {
  /** Of each code, in units of 10 us (InfiniBand architecture, RNR NAK timer field). */
  private static final int[] UNITS = {
    65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536,
    2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152
  };

  private static final long UNIT_NANOS = 10_000;

  static final Duration LEAST = Duration.ofNanos(UNIT_NANOS);
  static final Duration MOST = Duration.ofNanos(UNITS[0] * UNIT_NANOS);

  private RnrDelay() {}

  /** The code of the shortest step that is not shorter, from {@link #LEAST} to {@link #MOST}. */
  static int code(Duration delay) {
    for (int code = 1; code < UNITS.length; code++) {
      if (UNITS[code] * UNIT_NANOS >= delay.toNanos()) {
        return code;
      }
    }
    return 0; // the longest
  }
}
