package dev.verbatim.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FirstResultsTest {
  @TempDir private Path folder;
  private FirstResults results;

  @BeforeEach
  void clear() throws IOException {
    results = new FirstResults(folder.resolve("results"));
    results.clear();
  }

  private static JobResult result(String... cells) {
    return new JobResult(List.of("string", "double"), List.of(Arrays.asList(cells)));
  }

  @Test
  void shouldCompareWithTheFirstOneWhenThereAreMore() throws IOException {
    assertEquals(Optional.empty(), results.keepOrCompare("blocks:1x1", result("a", null)));
    assertEquals(Optional.empty(), results.keepOrCompare("blocks:1x1", result("a", null)));
    assertTrue(results.keepOrCompare("blocks:1x1", result("b", null)).isPresent());
    assertEquals(Optional.empty(), results.keepOrCompare("blocks:1x1", result("a", null)));
    assertEquals(Optional.empty(), results.keepOrCompare("q1", result("b", "1.5")), "another job");
  }

  @Test
  void shouldForgetThemWhenAnotherRunBegins() throws IOException {
    results.keepOrCompare("q1", result("a", "1"));
    assertTrue(
        new FirstResults(folder.resolve("results"))
            .keepOrCompare("q1", result("b", "1"))
            .isPresent(),
        "kept for a run that goes on");
    results.clear();
    assertEquals(Optional.empty(), results.keepOrCompare("q1", result("b", "1")));
  }
}
