package dev.verbatim.examples.report;

/** How fast a cost grows: y is about x to the power of the slope. */
final class Slope {
  private Slope() {}

  /**
   * Of the straight line through the logarithms, by least squares.
   *
   * @param x two or more different values above 0
   * @param y as many, above 0
   */
  static double of(double[] x, double[] y) {
    double meanX = meanLog(x);
    double meanY = meanLog(y);
    double products = 0;
    double squares = 0;
    for (int i = 0; i < x.length; i++) {
      double dx = Math.log(x[i]) - meanX;
      products += dx * (Math.log(y[i]) - meanY);
      squares += dx * dx;
    }
    if (x.length != y.length || !Double.isFinite(products) || squares <= 0) {
      throw new IllegalArgumentException("no line through " + x.length + " points");
    }
    return products / squares;
  }

  private static double meanLog(double[] values) {
    double sum = 0;
    for (double value : values) {
      sum += Math.log(value);
    }
    return sum / values.length;
  }
}
