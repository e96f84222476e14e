package dev.verbatim.examples.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SpreadTest {
  @Test
  void shouldTellTheMiddleOneWhenRoundsAreOdd() {
    assertEquals(new Spread(1, 4, 9), Spread.of(List.of(9.0, 1.0, 4.0)));
  }

  @Test
  void shouldTellTheMeanOfTheMiddleTwoWhenRoundsAreEven() {
    assertEquals(new Spread(1, 3.5, 10), Spread.of(List.of(10.0, 1.0, 4.0, 3.0)));
  }

  @Test
  void shouldRefuseWhatNobodyMeasured() {
    assertThrows(IllegalArgumentException.class, () -> Spread.of(List.of()));
    assertThrows(IllegalArgumentException.class, () -> Spread.of(List.of(1.0, Double.NaN)));
    assertThrows(
        IllegalArgumentException.class, () -> Spread.of(List.of(Double.POSITIVE_INFINITY)));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "0 | 0",
        "250 | 250",
        "-3 | -3",
        "4123456.7 | 4,123,457",
        "123.456 | 123.5",
        "12.3456 | 12.35",
        "0.97123 | 0.971",
        "0.0461234 | 0.0461",
        "0.00461234 | 0.00461"
      })
  void shouldWriteDigitsThatTellSomething(double value, String text) {
    assertEquals(text, Spread.number(value));
  }

  @Test
  void shouldReadAsMedianAndRange() {
    assertEquals("1.500 (1 to 3)", new Spread(1, 1.5, 3).toString());
    assertEquals("7", new Spread(7, 7, 7).toString());
  }
}
