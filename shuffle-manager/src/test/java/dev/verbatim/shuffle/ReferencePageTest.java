package dev.verbatim.shuffle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ReferencePageTest {

  @ParameterizedTest
  @ValueSource(strings = {"docs/configuration.md", "docs/metrics.md"})
  void shouldFindThePageUpToDateWhenNothingWasChanged(String name) throws IOException {
    String page = Files.readString(Path.of("..", name));

    assertEquals(
        ReferencePage.update(page), page, "run dev.verbatim.shuffle.ReferencePage " + name);
  }

  @Test
  void shouldRefuseAPageWhenItsMarkersAreMissing() {
    assertThrows(IllegalArgumentException.class, () -> ReferencePage.update("no markers"));
  }
}
