package dev.verbatim.examples;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A comparison as a JSON file and as a page, both written again whenever there is more.
 *
 * @param json null for none
 * @param html null for none
 */
record RunFiles(Path json, Path html) {
  private static final ObjectMapper JSON = new ObjectMapper();

  void write(RunReport whole) throws IOException {
    RunReport report = whole.redacted();
    if (json != null) {
      Map<String, Object> root = new LinkedHashMap<>();
      root.put("complete", report.done() == report.planned());
      root.put("planned", report.planned());
      root.put("done", report.done());
      root.put("failed", report.failed());
      root.put("comparisons", report.comparisons());
      root.put("run", report);
      replace(json, JSON.writerWithDefaultPrettyPrinter().writeValueAsString(root) + "\n");
    }
    if (html != null) {
      replace(html, ComparisonPage.of(report).html());
    }
  }

  /** So that there is a whole file whenever somebody looks, or this program is ended. */
  private static void replace(Path file, String text) throws IOException {
    Path whole = file.toAbsolutePath();
    Files.createDirectories(whole.getParent());
    Path part = whole.resolveSibling(whole.getFileName() + ".part");
    Files.writeString(part, text);
    Files.move(part, whole, StandardCopyOption.ATOMIC_MOVE);
  }

  /**
   * What an earlier run has left.
   *
   * @throws IllegalArgumentException if there is no such file, or it was left by something else
   */
  RunReport read() throws IOException {
    if (json == null || !Files.isRegularFile(json)) {
      throw new IllegalArgumentException(
          "--resume needs --json with the file of the run to go on with, not " + json);
    }
    try {
      JsonNode run = JSON.readTree(json.toFile()).get("run");
      RunReport report = run == null ? null : JSON.treeToValue(run, RunReport.class);
      if (report == null || report.settings() == null || report.machine() == null) {
        throw new IllegalArgumentException(json + " was not left by a comparison");
      }
      return report;
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException(
          json + " was not left by a comparison, or is not whole: " + e.getOriginalMessage(), e);
    }
  }
}
