package dev.verbatim.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ResultComparisonTest {
  private static final List<String> TYPES = List.of("string", "double", "double");

  private static JobResult result(String... rows) {
    return new JobResult(TYPES, Arrays.stream(rows).map(ResultComparisonTest::row).toList());
  }

  /** Cells parted by a bar; a dash is NULL. */
  private static List<String> row(String cells) {
    return Arrays.stream(cells.split("\\|")).map(cell -> cell.equals("-") ? null : cell).toList();
  }

  private static boolean same(JobResult a, JobResult b) {
    boolean same = ResultComparison.difference(a, b).isEmpty();
    assertEquals(same, ResultComparison.difference(b, a).isEmpty(), "not symmetric");
    return same;
  }

  @Test
  void shouldFindNoDifferenceWhenOnlyTheOrderDiffers() {
    assertTrue(same(result("a|1.0|2.0", "b|-|4.0"), result("b|-|4.0", "a|1.0|2.0")));
  }

  @Test
  void shouldDifferWhenARowOccursMoreOften() {
    assertTrue(
        !same(
            result("a|1.0|1.0", "a|1.0|1.0", "b|1.0|1.0"),
            result("a|1.0|1.0", "b|1.0|1.0", "b|1.0|1.0")));
  }

  @Test
  void shouldDifferWhenARowIsMissing() {
    assertTrue(!same(result("a|1.0|1.0", "b|1.0|1.0"), result("a|1.0|1.0")));
  }

  @Test
  void shouldDifferWhenNullTakesThePlaceOfAValue() {
    assertTrue(!same(result("a|1.0|1.0"), result("-|1.0|1.0")));
    assertTrue(!same(result("a|0.0|1.0"), result("a|-|1.0")));
    assertTrue(!same(result("null|1.0|1.0"), result("-|1.0|1.0")));
  }

  @Test
  void shouldAcceptADoubleWhenOnlyItsLastDigitsDiffer() {
    assertTrue(same(result("a|1234567.000001|1.0"), result("a|1234567.0000010003|1.0")));
    assertTrue(!same(result("a|1234567.0|1.0"), result("a|1234567.01|1.0")));
    assertTrue(!same(result("a|0.0|1.0"), result("a|1.0E-30|1.0")));
    assertTrue(same(result("a|NaN|Infinity"), result("a|NaN|Infinity")));
    assertTrue(!same(result("a|NaN|1.0"), result("a|1.0|1.0")));
  }

  @Test
  void shouldPairRowsByAllTheirDoublesWhenTheFirstOnesAreNearlyEqual() {
    assertTrue(
        same(
            result("a|1.0|5.0", "a|1.0000000000000002|3.0"),
            result("a|1.0000000000000002|5.0", "a|1.0|3.0")));
  }

  @Test
  void shouldCompareDecimalsExactlyWhenTheyAreNearlyEqual() {
    List<String> types = List.of("decimal(38,18)");
    JobResult one = new JobResult(types, List.of(List.of("1.000000000000000000")));
    JobResult two = new JobResult(types, List.of(List.of("1.000000000000000001")));
    assertTrue(!same(one, two));
  }

  @Test
  void shouldDifferWhenColumnTypesDiffer() {
    JobResult one = new JobResult(List.of("int"), List.of());
    JobResult two = new JobResult(List.of("bigint"), List.of());
    assertTrue(!same(one, two));
  }

  @Test
  void shouldNameRowsWhenTheyDiffer() {
    Optional<String> difference =
        ResultComparison.difference(result("a|1.0|1.0"), result("b|1.0|1.0"));
    assertEquals(
        "1 rows became 1; 1 missing [[a, 1.0, 1.0]]; 1 unexpected [[b, 1.0, 1.0]]",
        difference.orElseThrow());
  }
}
