package dev.verbatim.it.scripts;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What {@code scripts/compare} does where it cannot compare. */
@Tag("scripts")
class CompareTest {
  @TempDir private Path folder;

  private Script compare() {
    return new Script("compare", folder);
  }

  /** A build would replace the jars that the other one's executors read. */
  @Test
  void shouldRefuseWhenAnotherComparisonRunsInThisCheckout() throws Exception {
    Path work = Files.createDirectories(Script.ROOT.resolve("work"));
    Path lock = work.resolve("comparison.lock");
    Process other =
        new ProcessBuilder(
                "flock", "--nonblock", "--shared", lock.toString(), "sh", "-c", "echo held; cat")
            .start();
    try {
      other.getInputStream().read(); // it has the lock now, or somebody else has
      compare()
          .run("--jobs", "blocks:1x1")
          .exits(2)
          .says("Another comparison runs in this checkout");
      // Its search for a JDK comes before that, and wants no HOME.
      compare()
          .without("HOME")
          .run("--jobs", "blocks:1x1")
          .exits(2)
          .says("Another comparison runs in this checkout");
    } finally {
      other.getOutputStream().close();
      other.waitFor();
    }
  }

  /** 1 is that results differ. */
  @Test
  void shouldNotEndAsIfResultsDifferedWhenItCouldNotBegin()
      throws IOException, InterruptedException {
    compare().run("--out", "").exits(2);
    compare().run("--scale", "much").exits(2).says("--scale wants a number");
  }
}
