package dev.verbatim.examples.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class SlopeTest {
  private static final double[] X = {1, 10, 100};

  @Test
  void shouldTellThePowerWhenCostIsAPower() {
    assertEquals(2, Slope.of(X, new double[] {3, 300, 30_000}), 1e-9);
    assertEquals(0, Slope.of(X, new double[] {5, 5, 5}), 1e-9);
    assertEquals(-1, Slope.of(X, new double[] {100, 10, 1}), 1e-9);
  }

  @Test
  void shouldLieBetweenWhenPointsAreOffTheLine() {
    double slope = Slope.of(X, new double[] {1, 30, 100});

    assertEquals(1, slope, 1e-9, "the one in the middle has no lever");
  }

  @Test
  void shouldRefuseWhenThereIsNoLine() {
    assertThrows(IllegalArgumentException.class, () -> Slope.of(X, new double[] {0, 1, 2}));
    double[] same = {4, 4};
    assertThrows(IllegalArgumentException.class, () -> Slope.of(same, same));
    assertTrue(FigureCharts.slope(same, same).isEmpty());
  }
}
