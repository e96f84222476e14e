package dev.verbatim.examples.report;

import java.math.BigDecimal;
import java.math.MathContext;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Horizontal bars, some for each name, as an option of ECharts.
 *
 * @param title what the bars show
 * @param unit of the values
 * @param names of the lines, from above
 * @param bars series, from above within a line
 */
public record BarChart(String title, String unit, List<String> names, List<Bars> bars) {
  private static final MathContext SHOWN_DIGITS = new MathContext(4);
  private static final int LINE = 36;

  /**
   * A series.
   *
   * @param stack series of the same stack continue each other's bars; null for a bar of its own
   * @param values for each name; null where there is none
   */
  public record Bars(String name, String stack, List<Double> values) {}

  /** In pixels. */
  public int height() {
    return 130 + LINE * names.size();
  }

  /** What ECharts draws. */
  public Map<String, ?> option() {
    return Map.of(
        "title",
        Map.of("text", title + ", " + unit, "textStyle", Map.of("fontSize", 14)),
        "legend",
        Map.of("top", 26, "left", 0),
        "tooltip",
        Map.of("trigger", "axis", "axisPointer", Map.of("type", "shadow")),
        "grid",
        Map.of("left", 10, "right", 60, "top", 60, "bottom", 20, "containLabel", true),
        "xAxis",
        Map.of("type", "value", "axisLabel", Map.of("hideOverlap", true)),
        "yAxis",
        Map.of(
            "type", "category", "data", names, "inverse", true, "axisLabel", Map.of("interval", 0)),
        "series",
        bars.stream().map(BarChart::series).toList());
  }

  private static Map<String, ?> series(Bars bars) {
    List<Object> data = new ArrayList<>();
    for (Double value : bars.values()) {
      data.add(value == null ? "-" : new BigDecimal(value).round(SHOWN_DIGITS).doubleValue());
    }
    Map<String, Object> series = new LinkedHashMap<>();
    series.put("type", "bar");
    series.put("name", bars.name());
    series.put("data", data);
    series.put("barMaxWidth", 13);
    if (bars.stack() == null) {
      series.put("label", Map.of("show", true, "position", "right", "fontSize", 10));
    } else {
      series.put("stack", bars.stack());
    }
    return series;
  }
}
