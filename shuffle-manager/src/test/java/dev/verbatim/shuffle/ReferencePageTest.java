package dev.verbatim.shuffle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class ReferencePageTest {

  @Test
  void shouldFindThePageUpToDateWhenNothingWasChanged() throws IOException {
    String page = Files.readString(Path.of("../docs/configuration.md"));

    assertEquals(
        ReferencePage.update(page),
        page,
        "run dev.verbatim.shuffle.ReferencePage docs/configuration.md");
  }

  @Test
  void shouldRefuseAPageWhenItsMarkersAreMissing() {
    assertThrows(IllegalArgumentException.class, () -> ReferencePage.update("no markers"));
  }
}
