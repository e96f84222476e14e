package dev.verbatim.verbs;

import java.util.Locale;

/**
 * Speed and width of a link, decoded from {@code active_speed} and {@code active_width} of {@code
 * ibv_query_port(3)}.
 *
 * @param speed name of the signalling rate, for example {@code EDR}; {@code speed 3} when unknown
 * @param width lanes, 0 when unknown
 * @param gigabitsPerSecond of all lanes together, 0 when unknown
 */
public record LinkRate(String speed, int width, double gigabitsPerSecond) {

  /** Decodes; numbers that are not known give 0, never an error. */
  public static LinkRate of(int activeSpeed, int activeWidth) {
    int lanes = lanes(activeWidth);
    return switch (activeSpeed) {
      case 1 -> new LinkRate("SDR", lanes, 2.5 * lanes);
      case 2 -> new LinkRate("DDR", lanes, 5 * lanes);
      case 4 -> new LinkRate("QDR", lanes, 10 * lanes);
      case 8 -> new LinkRate("FDR10", lanes, 10 * lanes);
      case 16 -> new LinkRate("FDR", lanes, 14 * lanes);
      case 32 -> new LinkRate("EDR", lanes, 25 * lanes);
      case 64 -> new LinkRate("HDR", lanes, 50 * lanes);
      case 128 -> new LinkRate("NDR", lanes, 100 * lanes);
      case 256 -> new LinkRate("XDR", lanes, 200 * lanes);
      default -> new LinkRate("speed " + activeSpeed, lanes, 0);
    };
  }

  private static int lanes(int activeWidth) {
    return switch (activeWidth) {
      case 1 -> 1;
      case 2 -> 4;
      case 4 -> 8;
      case 8 -> 12;
      case 16 -> 2;
      default -> 0;
    };
  }

  @Override
  public String toString() {
    return gigabitsPerSecond == 0
        ? speed + " x" + width
        : String.format(Locale.ROOT, "%s x%d (%.4g Gb/s)", speed, width, gigabitsPerSecond);
  }
}
