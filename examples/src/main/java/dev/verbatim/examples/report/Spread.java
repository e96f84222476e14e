package dev.verbatim.examples.report;

import java.util.Collection;
import java.util.Locale;

/** How the values of several rounds are spread. */
public record Spread(double min, double median, double max) {

  /**
   * The median of an even number of values is the mean of the two in the middle.
   *
   * @throws IllegalArgumentException for no values, and for one that is no finite number
   */
  public static Spread of(Collection<Double> values) {
    double[] sorted = values.stream().mapToDouble(Double::doubleValue).sorted().toArray();
    if (sorted.length == 0) {
      throw new IllegalArgumentException("no values");
    }
    for (double value : sorted) {
      if (!Double.isFinite(value)) {
        throw new IllegalArgumentException("not a measured value: " + value);
      }
    }
    int middle = sorted.length / 2;
    double median =
        sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    return new Spread(sorted[0], median, sorted[sorted.length - 1]);
  }

  /** "median (min to max)", with three to four digits that tell something. */
  @Override
  public String toString() {
    return min == max
        ? number(median)
        : number(median) + " (" + number(min) + " to " + number(max) + ")";
  }

  /** A number with three to four digits that tell something, and all of those before the point. */
  public static String number(double value) {
    double size = Math.abs(value);
    if (value == Math.rint(value) && size < 1e15 || size >= 1000) {
      return String.format(Locale.ROOT, "%,.0f", value);
    }
    int decimals = size >= 100 ? 1 : size >= 10 ? 2 : size >= 0.1 ? 3 : size >= 0.01 ? 4 : 5;
    return String.format(Locale.ROOT, "%." + decimals + "f", value);
  }
}
