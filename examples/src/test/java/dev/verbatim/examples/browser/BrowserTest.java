package dev.verbatim.examples.browser;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BrowserTest {
  @TempDir Path folder;
  private Browser browser;

  @BeforeEach
  void start() {
    browser = Browser.start(folder);
  }

  @AfterEach
  void close() {
    browser.close();
  }

  private void show(String body) throws IOException {
    Path page = folder.resolve("page.html");
    Files.writeString(page, "<!DOCTYPE html><title>page</title><body>" + body);
    browser.open(page.toUri());
  }

  @Test
  void shouldRunThePagesScriptsAndTellWhatItShows() throws IOException {
    show("<p id=sum></p><script>setTimeout(() => sum.textContent = 40 + 2, 100)</script>");
    browser.await("sum.textContent === '42'");
    assertEquals("42", browser.text());
    assertEquals(7, browser.script("return arguments[0] + arguments[1]", 3, 4).asInt());
    assertTrue(browser.address().getPath().endsWith("/page.html"));
    assertEquals(List.of(), browser.errors());
  }

  @Test
  void shouldTellErrorsWhenAScriptFailsOrAFileIsMissing() throws IOException {
    show("<img src=missing.png><script>undefinedFunction()</script>");
    List<String> errors = browser.errors();
    assertEquals(2, errors.size(), errors::toString);
    assertTrue(errors.stream().anyMatch(e -> e.contains("undefinedFunction")), errors::toString);
    assertTrue(errors.stream().anyMatch(e -> e.contains("missing.png")), errors::toString);
    assertThrows(IllegalStateException.class, () -> browser.script("return nothing()"));
  }

  @Test
  void shouldPictureWhatTheWindowShows() throws IOException {
    show("<style>body{background:#ff0000}</style>");
    Path picture = folder.resolve("pictures/page.png");
    browser.screenshot(picture);
    assertEquals(0xffff0000, ImageIO.read(picture.toFile()).getRGB(10, 10));
  }
}
