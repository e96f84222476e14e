package dev.verbatim.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class ProgressTest {
  private final ByteArrayOutputStream printed = new ByteArrayOutputStream();
  private RunReport run = Reports.run(2, List.of("q1", "q14a"));
  private long seconds;

  private Progress progress(boolean terminal) {
    PrintStream out = new PrintStream(printed, true, StandardCharsets.UTF_8);
    return new Progress(out, terminal, () -> TimeUnit.SECONDS.toNanos(seconds), run);
  }

  private String printed() {
    return printed.toString(StandardCharsets.UTF_8);
  }

  private void end(Progress progress, JobReport job) {
    ApplicationReport sort =
        run.find("sort", 1)
            .orElseGet(() -> new ApplicationReport("sort", 1, Reports.SPARK, List.of()));
    run = run.with(sort.with(job));
    progress.jobEnded(job, run);
  }

  @Test
  void shouldTellWhatEndedAndWhatIsLeftWhenItIsALog() {
    Progress progress = progress(false);
    progress.applicationStarts("sort", 1, "logs/sort-1.log");
    seconds = 20;
    progress.applicationIsUp();
    progress.jobStarts("q1");
    for (; seconds < 150; seconds++) {
      progress.second();
    }
    end(progress, Reports.job("q1", 129, null));
    progress.jobStarts("q14a");
    seconds = 160;
    end(progress, JobReport.failed("q14a", 9.5, "SparkException: no\nat line 2"));
    // Left: three applications of 20 s; q1 takes 130 s and q14a 10 s.
    assertEquals(
        """
        [   0:00] round 1 of 2, sort: Spark starts, log logs/sort-1.log
        [   0:20] round 1 of 2, sort: executors are up
        [   1:20] round 1 of 2, sort: q1 runs for 1:00
        [   2:20] round 1 of 2, sort: q1 runs for 2:00
        [   2:30] 1 of 8  sort      round 1  q1      129.0 s     1,234 rows       2.0 MB shuffled\
          about 16:10 left
        [   2:40] 2 of 8  sort      round 1  q14a  FAILED after 9.5 s: SparkException: no\
          about 8:00 left
        """,
        printed());
  }

  @Test
  void shouldOverwriteWhatRunsWhenItIsATerminal() {
    Progress progress = progress(true);
    progress.applicationStarts("sort", 1, "logs/sort-1.log");
    printed.reset();
    progress.jobStarts("q1");
    seconds = 1;
    progress.second();
    assertEquals(
        "\r\033[K[   0:00] round 1 of 2, sort: q1 runs for 0:00"
            + "\r\033[K[   0:01] round 1 of 2, sort: q1 runs for 0:01",
        printed());
    printed.reset();
    end(progress, Reports.different(Reports.job("q1", 1, null), "2 rows became 3"));
    assertEquals(
        "\r\033[K[   0:01] 1 of 8  sort      round 1  q1        1.0 s     1,234 rows       2.0 MB"
            + " shuffled  RESULT DIFFERS  about 0:07 left\n",
        printed());
  }

  @Test
  void shouldEstimateByEarlierRoundsWhenItGoesOn() {
    end(progress(false), Reports.job("q1", 100, null));
    printed.reset();
    Progress progress = progress(false);
    progress.applicationStarts("sort", 1, "log");
    progress.jobStarts("q14a");
    seconds = 20;
    end(progress, Reports.job("q14a", 20, null));
    assertEquals("6:00", printed().replaceAll("(?s).*about (\\S+) left\n", "$1"));
  }

  @Test
  void shouldShowHoursWhenThereAreAny() {
    assertEquals("0:07", Progress.clock(7.4));
    assertEquals("59:59", Progress.clock(3599));
    assertEquals("1:02:03", Progress.clock(3723));
  }
}
