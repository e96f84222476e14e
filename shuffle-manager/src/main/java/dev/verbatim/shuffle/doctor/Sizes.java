package dev.verbatim.shuffle.doctor;

import java.text.DecimalFormat;
import java.text.DecimalFormatSymbols;
import java.util.Locale;

/** Numbers of bytes for people. */
final class Sizes {
  private Sizes() {}

  /** In the largest unit, a power of 1024, of which there is one at least. */
  static String text(double bytes) {
    String[] units = {"B", "KiB", "MiB", "GiB", "TiB"};
    double value = bytes;
    int unit = 0;
    while (value >= 1024 && unit < units.length - 1) {
      value /= 1024;
      unit++;
    }
    return new DecimalFormat("#.###", DecimalFormatSymbols.getInstance(Locale.ROOT)).format(value)
        + " "
        + units[unit];
  }
}
