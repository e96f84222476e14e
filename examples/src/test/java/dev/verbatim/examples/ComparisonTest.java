package dev.verbatim.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.verbatim.examples.report.Figure;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ComparisonTest {
  private static ApplicationReport round(String label, double seconds, String value) {
    JobResult result = new JobResult(List.of("string"), List.of(List.of(value)));
    ShuffleBytes shuffle = new ShuffleBytes(2_000_000, 500_000, 1_500_000, 3, 1, 40, 0);
    TransferBytes transfer = new TransferBytes(1_400_000, 100_000);
    return new ApplicationReport(
        label,
        label,
        List.of("RDMA off: NO_DEVICE, none is visible"),
        Map.of(),
        List.of(
            new JobReport(
                "q1",
                seconds,
                new ClusterCpu(2 * seconds, 3 * seconds),
                shuffle,
                transfer,
                result)));
  }

  @Test
  void shouldTakeTheMedianWhenThereAreSeveralRounds() {
    List<ApplicationReport> sort =
        List.of(round("sort", 9, "x"), round("sort", 1, "x"), round("sort", 2, "x"));
    List<ApplicationReport> other = List.of(round("other", 4, "x"), round("other", 2, "x"));
    Comparison comparison = Comparison.of(sort, other).getFirst();
    assertEquals(2, comparison.seconds());
    assertEquals(3, comparison.otherSeconds());
    assertTrue(comparison.same());
  }

  @Test
  void shouldNameManagerAndRoundWhenOneResultDiffers() {
    List<ApplicationReport> sort = List.of(round("sort", 1, "x"), round("sort", 1, "x"));
    List<ApplicationReport> other = List.of(round("other", 1, "x"), round("other", 1, "y"));
    Comparison comparison = Comparison.of(sort, other).getFirst();
    assertFalse(comparison.same());
    assertTrue(comparison.difference().startsWith("other, round 2: "), comparison.difference());
  }

  @Test
  void shouldNotTrustTheReferenceWhenItDiffersFromItself() {
    List<ApplicationReport> sort = List.of(round("sort", 1, "x"), round("sort", 1, "y"));
    List<ApplicationReport> other = List.of(round("other", 1, "x"), round("other", 1, "x"));
    assertFalse(Comparison.of(sort, other).getFirst().same());
  }

  @Test
  void shouldAlignColumnsAndSumWhenATableIsPrinted() {
    Comparison one =
        Comparison.of(List.of(round("sort", 2, "x")), List.of(round("v", 3, "x"))).getFirst();
    Comparison two =
        Comparison.of(List.of(round("sort", 10, "x")), List.of(round("v", 9, "y"))).getFirst();
    assertEquals(
        """
        job  rows  sort s   v s  ratio  shuffled  remote  by RDMA  by TCP  result
        q1      1     2.0   3.0   1.50    2.0 MB  1.5 MB   1.4 MB  0.1 MB  OK
        q1      1    10.0   9.0   0.90    2.0 MB  1.5 MB   1.4 MB  0.1 MB  DIFFERENT
        all     2    12.0  12.0   1.00    4.0 MB  3.0 MB   2.8 MB  0.2 MB  DIFFERENT
        """,
        ComparisonTable.format("sort", "v", List.of(one, two)));
  }

  @Test
  void shouldSayThatCarriersAreNotCountedWhenTheManagerDoesNot() {
    Comparison uncounted = new Comparison("q1", 1, 1, 1, ShuffleBytes.NONE, null, null);
    String line = ComparisonTable.format("a", "b", List.of(uncounted)).lines().toList().get(1);
    assertTrue(line.endsWith("n/a     n/a  OK"), line);
  }

  @Test
  void shouldMakeFiguresOfEachJobAndOfAllWhenTheyAreComparedRoundByRound() {
    List<Figure> figures =
        ComparisonFigures.of(
            List.of(round("sort", 4, "x"), round("sort", 2, "x")),
            List.of(round("v", 2, "x"), round("v", 3, "x")),
            "tcp-");
    assertEquals(
        List.of(
            "tcp-q1",
            "tcp-all-jobs",
            "tcp-all-jobs-cpu",
            "tcp-all-jobs-machine-cpu",
            "tcp-all-jobs-shuffle-share",
            "tcp-all-jobs-rdma-bytes"),
        figures.stream().map(Figure::name).toList());
    for (Figure figure : figures.subList(0, 4)) {
      assertEquals(List.of(0.5, 1.5), figure.ratios(), figure.name());
    }
    assertEquals(List.of(4.0, 6.0), figures.get(2).ours().values());
    assertEquals(List.of(6.0, 9.0), figures.get(3).ours().values());
    assertEquals(List.of(10.0, 10.0), figures.get(4).against().values());
    assertEquals(List.of(1.4, 1.4), figures.get(5).ours().values());
    assertEquals(List.of(1.5, 1.5), figures.get(5).against().values());
    assertEquals("RDMA off: NO_DEVICE", figures.getFirst().note());
  }
}
