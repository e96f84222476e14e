package dev.verbatim.examples.browser;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A headless Chromium with one window, driven as W3C WebDriver says by {@code chromedriver}, which
 * must be on the path. What the page logs as an error is kept for {@link #errors}.
 */
public final class Browser implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final Path DEBIAN = Path.of("/usr/bin/chromium");
  private static final ObjectMapper JSON = new ObjectMapper();

  private static final Pattern STARTED = Pattern.compile("started successfully on port (\\d+)");

  private final HttpClient http = HttpClient.newHttpClient();
  private final Process driver;
  private URI sessions;
  private String session;

  private Browser(Process driver) {
    this.driver = driver;
  }

  /**
   * Starts one with a profile of its own.
   *
   * @param folder for the profile and the driver's log; made if it is not there
   */
  public static Browser start(Path folder) {
    try {
      Path profile = Files.createTempDirectory(Files.createDirectories(folder), "profile-");
      Path log = folder.resolve("chromedriver.log");
      Browser browser =
          new Browser(
              new ProcessBuilder("chromedriver", "--port=0")
                  .redirectErrorStream(true)
                  .redirectOutput(log.toFile())
                  .start());
      try {
        browser.sessions = URI.create("http://127.0.0.1:" + browser.port(log) + "/session");
        browser.open(profile);
        return browser;
      } catch (RuntimeException | Error e) {
        browser.close();
        throw e;
      }
    } catch (IOException e) {
      throw new UncheckedIOException(
          "Chromium's driver does not start: install the packages chromium and chromium-driver", e);
    }
  }

  private String port(Path log) throws IOException {
    long end = System.nanoTime() + PATIENCE.toNanos();
    while (true) {
      Matcher started = STARTED.matcher(Files.readString(log));
      if (started.find()) {
        return started.group(1);
      }
      if (!driver.isAlive() || System.nanoTime() > end) {
        throw new IllegalStateException("chromedriver does not start: " + Files.readString(log));
      }
      pause();
    }
  }

  private void open(Path profile) {
    List<String> arguments =
        List.of(
            "--headless",
            "--no-sandbox", // root has none
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--window-size=1600,1000",
            "--user-data-dir=" + profile);
    Map<String, Object> options =
        Files.exists(DEBIAN)
            ? Map.of("args", arguments, "binary", DEBIAN.toString())
            : Map.of("args", arguments);
    Map<String, Object> wanted =
        Map.of("goog:chromeOptions", options, "goog:loggingPrefs", Map.of("browser", "ALL"));
    session =
        send("", Map.of("capabilities", Map.of("alwaysMatch", wanted))).get("sessionId").asText();
  }

  /** Loads a page; returns when it has been loaded with all that it names. */
  public void open(URI page) {
    send("/url", Map.of("url", page.toString()));
  }

  /**
   * What the body of a function returns in the page.
   *
   * @param arguments the function's {@code arguments}
   */
  public JsonNode script(String body, Object... arguments) {
    return send("/execute/sync", Map.of("script", body, "args", Arrays.asList(arguments)));
  }

  /**
   * Waits until an expression is true in the page.
   *
   * @throws AssertionError after a minute, with what the page shows then
   */
  public void await(String expression) {
    long end = System.nanoTime() + PATIENCE.toNanos();
    while (!script("return Boolean(" + expression + ")").asBoolean()) {
      if (System.nanoTime() > end) {
        throw new AssertionError(expression + " did not become true in the page: " + text());
      }
      pause();
    }
  }

  /** What the page shows. */
  public String text() {
    return script("return document.body.innerText").asText();
  }

  /** The page's address now. */
  public URI address() {
    return URI.create(script("return location.href").asText());
  }

  /** Errors that the browser has told since the last call: of scripts, and files not found. */
  public List<String> errors() {
    List<String> errors = new ArrayList<>();
    for (JsonNode entry : send("/se/log", Map.of("type", "browser"))) {
      if (entry.get("level").asText().equals("SEVERE")) {
        errors.add(entry.get("message").asText());
      }
    }
    return errors;
  }

  /** Sets the page's size in pixels, and whether the user wants a dark one. */
  public void show(int width, int height, boolean dark) {
    chromium(
        "Emulation.setDeviceMetricsOverride",
        Map.of("width", width, "height", height, "deviceScaleFactor", 1, "mobile", false));
    chromium(
        "Emulation.setEmulatedMedia",
        Map.of(
            "features",
            List.of(Map.of("name", "prefers-color-scheme", "value", dark ? "dark" : "light"))));
  }

  /** A command of Chromium's own protocol. */
  private void chromium(String command, Map<String, Object> parameters) {
    send("/goog/cdp/execute", Map.of("cmd", command, "params", parameters));
  }

  /** Writes what the window shows as a PNG image. */
  public void screenshot(Path file) {
    try {
      Files.createDirectories(file.toAbsolutePath().getParent());
      Files.write(file, Base64.getDecoder().decode(get("/screenshot").asText()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private JsonNode get(String command) {
    return answer(HttpRequest.newBuilder(uri(command)).GET());
  }

  private JsonNode send(String command, Map<String, Object> parameters) {
    try {
      return answer(
          HttpRequest.newBuilder(uri(command))
              .header("Content-Type", "application/json")
              .POST(BodyPublishers.ofString(JSON.writeValueAsString(parameters))));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private URI uri(String command) {
    return session == null ? sessions : URI.create(sessions + "/" + session + command);
  }

  private JsonNode answer(HttpRequest.Builder request) {
    try {
      JsonNode value =
          JSON.readTree(
                  http.send(request.timeout(PATIENCE).build(), BodyHandlers.ofString()).body())
              .path("value");
      if (value.has("error")) {
        throw new IllegalStateException(value.get("error").asText() + ": " + value.get("message"));
      }
      return value;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static void pause() {
    try {
      Thread.sleep(50);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Ends the browser and its driver. */
  @Override
  public void close() {
    try {
      if (session != null) {
        answer(HttpRequest.newBuilder(uri("")).DELETE());
      }
    } finally {
      driver.destroy();
      try {
        if (!driver.waitFor(10, TimeUnit.SECONDS)) {
          driver.destroyForcibly();
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
