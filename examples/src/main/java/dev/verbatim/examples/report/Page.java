package dev.verbatim.examples.report;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * One HTML file of facts, texts, tables and charts that needs nothing else to be looked at: Apache
 * ECharts is in it. Texts are shown as they are; no HTML can come in with them.
 */
public final class Page {
  private static final String TEMPLATE = "page.html";
  private static final String LIBRARY =
      "/META-INF/resources/webjars/echarts/5.3.1/dist/echarts.common.min.js";

  private final String title;
  private final Map<String, String> facts;
  private final List<Section> sections = new ArrayList<>();

  private record Section(String title, String text, List<Block> blocks) {}

  /** Members that are null are not there. */
  private record Block(
      List<String> columns, List<List<String>> rows, Integer height, Map<String, ?> option) {}

  private record Content(String title, Map<String, String> facts, List<Section> sections) {}

  /**
   * @param facts names and values, shown on top in their order
   */
  public Page(String title, Map<String, String> facts) {
    this.title = title;
    this.facts = facts;
  }

  /** Begins a section; tables and charts that follow are in it. */
  public Page section(String heading, String text) {
    sections.add(new Section(heading, text, new ArrayList<>()));
    return this;
  }

  /** Adds a table; a cell "MISSED", "DIFFERENT" or "FAILED" stands out. */
  public Page table(List<String> columns, List<List<String>> rows) {
    sections.getLast().blocks().add(new Block(columns, rows, null, null));
    return this;
  }

  /**
   * Adds a chart.
   *
   * @param height in pixels
   * @param option what ECharts calls its option, made of maps, lists, numbers and texts
   */
  public Page chart(int height, Map<String, ?> option) {
    sections.getLast().blocks().add(new Block(null, null, height, option));
    return this;
  }

  /**
   * Adds a chart and, beside it, a table of the same.
   *
   * @param height in pixels
   * @param option as of {@link #chart}
   */
  public Page chartWithTable(
      int height, Map<String, ?> option, List<String> columns, List<List<String>> rows) {
    sections.getLast().blocks().add(new Block(columns, rows, height, option));
    return this;
  }

  /** The file's text, in UTF-8 when written. */
  public String html() throws IOException {
    // In a script element, "<" could begin the element's end or a comment.
    String content =
        new ObjectMapper()
            .writeValueAsString(new Content(title, facts, sections))
            .replace("<", "\\u003c");
    return text(TEMPLATE).replace("/*LIBRARY*/", text(LIBRARY)).replace("/*CONTENT*/null", content);
  }

  private static String text(String resource) throws IOException {
    try (InputStream in = Page.class.getResourceAsStream(resource)) {
      if (in == null) {
        throw new IOException("not on the class path: " + resource);
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }
}
