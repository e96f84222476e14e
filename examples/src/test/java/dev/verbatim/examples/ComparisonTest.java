package dev.verbatim.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.verbatim.examples.JobComparison.Outcome;
import dev.verbatim.examples.report.Figure;
import dev.verbatim.examples.report.Goal;
import dev.verbatim.examples.report.Spread;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ComparisonTest {
  private static final TransferBytes BY_BOTH = new TransferBytes(1_400_000, 100_000);

  private static JobReport job(double seconds) {
    return Reports.job("q1", seconds, BY_BOTH);
  }

  /** Rounds in which one job was run. */
  private static List<ApplicationReport> rounds(String label, JobReport... jobs) {
    return IntStream.range(0, jobs.length)
        .mapToObj(
            i ->
                new ApplicationReport(
                    label,
                    i + 1,
                    Reports.VERBATIM,
                    Arrays.stream(jobs, i, i + 1).filter(job -> job != null).toList()))
        .toList();
  }

  private static JobComparison only(List<ApplicationReport> one, List<ApplicationReport> two) {
    return Comparison.of(List.of("q1"), one, two).jobs().getFirst();
  }

  @Test
  void shouldCompareRoundByRoundWhenThereAreSeveral() {
    JobComparison job =
        only(rounds("sort", job(9), job(1), job(2)), rounds("v", job(18), job(1), job(3)));

    assertEquals(new Spread(1, 2, 9), job.reference().seconds());
    assertEquals(new Spread(1, 3, 18), job.other().seconds());
    assertEquals(new Spread(1, 1.5, 2), job.ratio());
    assertEquals(Outcome.EQUAL, job.outcome());
    assertEquals(1.4, job.other().megabytes(job.other().transfer().rdma()), 1e-9);
    assertEquals(0.1, job.other().shuffleShare(), 1e-9);
    assertEquals(21, job.other().fallbacks().get("NO_DEVICE"));
  }

  @Test
  void shouldNameManagerAndRoundWhenAResultDiffers() {
    JobReport different = Reports.different(job(1), "2 rows became 3");
    for (boolean ofReference : List.of(true, false)) {
      List<ApplicationReport> wrong = rounds(ofReference ? "sort" : "v", job(1), different);
      List<ApplicationReport> right = rounds(ofReference ? "v" : "sort", job(1), job(1));
      JobComparison job = ofReference ? only(wrong, right) : only(right, wrong);

      assertEquals(Outcome.DIFFERENT, job.outcome());
      assertEquals(
          List.of(
              new JobComparison.Problem(ofReference ? "sort" : "v", 2, false, "2 rows became 3")),
          job.problems());
    }
  }

  @Test
  void shouldLeaveOutARoundWhenItFailedUnderOneOfThem() {
    JobReport failed = JobReport.failed("q1", 0.5, "SparkException: no");
    JobComparison job = only(rounds("sort", job(2), job(4)), rounds("v", failed, job(4)));

    assertEquals(Outcome.FAILED, job.outcome());
    assertEquals(List.of(4.0), job.reference().times());
    assertEquals(new Spread(1, 1, 1), job.ratio());
    assertTrue(job.problems().getFirst().failed());

    JobComparison never = only(rounds("sort", job(2)), rounds("v", failed));
    assertFalse(never.compared());
    assertEquals(1234, never.rows());
  }

  @Test
  void shouldSayThatItIsNotCompleteWhenARoundIsMissing() {
    JobComparison some = only(rounds("sort", job(2), null), rounds("v", job(3), null));
    assertEquals(Outcome.OPEN, some.outcome());
    assertEquals(1.5, some.ratio().median());

    JobComparison none = only(rounds("sort", job(2)), rounds("v", (JobReport) null));
    assertEquals(Outcome.OPEN, none.outcome());
    assertNull(none.ratio());
  }

  @Test
  void shouldTakeTheGeometricMeanOfAllJobsThatWereCompared() {
    RunReport run = Reports.run(1, List.of("q1", "q2", "q3"));
    run =
        run.with(
                new ApplicationReport(
                    "sort", 1, Reports.SPARK, List.of(job(1), Reports.job("q2", 10, null))))
            .with(
                new ApplicationReport(
                    "verbatim", 1, Reports.VERBATIM, List.of(job(4), Reports.job("q2", 10, null))));
    Comparison.Overall overall = run.comparisons().getFirst().overall();

    assertEquals(2, overall.jobs());
    assertEquals(2, overall.geometricMean(), 1e-9);
    assertEquals(11, overall.seconds());
    assertEquals(14, overall.otherSeconds());
    assertEquals(1, run.comparisons().getFirst().count(Outcome.OPEN));
    assertEquals(4, run.done());
    assertEquals(6, run.planned());
    assertEquals(List.of("q3"), run.open("sort", 1));
  }

  @Test
  void shouldRunFailedJobsAgainWhenItGoesOn() {
    RunReport run =
        Reports.run(1, List.of("q1", "q2"))
            .with(
                new ApplicationReport(
                    "sort", 1, Reports.SPARK, List.of(job(1), JobReport.failed("q2", 1, "no"))));

    assertEquals(1, run.failed());
    assertEquals(List.of(), run.open("sort", 1));
    assertEquals(List.of("q2"), run.succeeded(run.settings()).open("sort", 1));
    assertEquals(0, run.succeeded(run.settings()).failed());
  }

  @Test
  void shouldAlignColumnsAndTellProblemsWhenATableIsPrinted() {
    JobReport failed = JobReport.failed("q22", 0.5, "SparkException: no");
    Comparison comparison =
        Comparison.of(
            List.of("q1", "q22"),
            List.of(
                new ApplicationReport(
                    "sort", 1, Reports.SPARK, List.of(job(2), Reports.job("q22", 10, null)))),
            List.of(new ApplicationReport("v", 1, Reports.SPARK, List.of(job(3), failed))));
    assertEquals(
        """
        job   rows  sort s  v s  ratio  shuffled  remote  by RDMA  by TCP  result
        q1   1,234     2.0  3.0   1.50    2.0 MB  1.5 MB   1.4 MB  0.1 MB  OK
        q22  1,234     n/a  n/a    n/a       n/a     n/a      n/a     n/a  FAILED
        1 of 2 jobs were run under both: sort 2.0 s, v 3.0 s, ratio of the sums 1.50, geometric\
         mean of the ratios 1.50
        Times are of one round, which says nothing of which is faster: --rounds 3 or more does
        q22, v, round 1, failed: SparkException: no
        """,
        ComparisonTable.format(comparison));
  }

  @Test
  void shouldSayThatCarriersAreNotCountedWhenTheManagerDoesNot() {
    JobReport uncounted = Reports.job("q1", 1, null);
    Comparison comparison =
        Comparison.of(List.of("q1"), rounds("a", uncounted), rounds("b", uncounted));
    String line = ComparisonTable.format(comparison).lines().toList().get(1);
    assertTrue(line.endsWith("n/a     n/a  OK"), line);
  }

  @Test
  void shouldMakeFiguresOfEachJobAndOfAllWhenTheyAreComparedRoundByRound() {
    List<Figure> figures =
        ComparisonFigures.of(
            rounds("sort", job(4), job(2)),
            rounds("v", job(2), job(3)),
            "tcp-",
            List.of(Goal.parse("ratio <= 1 within noise")));
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
    assertEquals(
        List.of("", "met", "", "", "", ""), figures.stream().map(Figure::verdict).toList());
  }
}
