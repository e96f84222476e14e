package dev.verbatim.examples.report;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.ToDoubleFunction;

/** Charts of figures, as options of ECharts. */
public final class FigureCharts {
  /** Charts and their labels fit into a page with this many pixels per line of a bar chart. */
  private static final int LINE = 34;

  private FigureCharts() {}

  /** Of a chart of ratios, in pixels. */
  public static int ratioHeight(List<Figure> figures) {
    return 110 + LINE * figures.size();
  }

  /** A line per figure: the ratio of each round as a dot, and where the goal is. */
  static Map<String, ?> ratios(List<Figure> figures) {
    return ratios(figures, Map.of("type", "log"));
  }

  /**
   * The same for ratios that are all near 1.
   *
   * @param figures one or more
   */
  public static Map<String, ?> ratiosNearOne(List<Figure> figures) {
    List<Double> ratios = figures.stream().flatMap(figure -> figure.ratios().stream()).toList();
    double low = Math.min(1, Spread.of(ratios).min());
    double high = Math.max(1, Spread.of(ratios).max());
    return ratios(
        figures,
        Map.of(
            "type",
            "value",
            "min",
            Math.floor(10 * low - 0.5) / 10,
            "max",
            Math.ceil(10 * high + 0.5) / 10));
  }

  private static Map<String, ?> ratios(List<Figure> figures, Map<String, ?> axis) {
    List<String> names = figures.stream().map(Figure::name).toList();
    List<List<Object>> rounds = new ArrayList<>();
    List<List<Object>> medians = new ArrayList<>();
    List<List<Object>> goals = new ArrayList<>();
    for (Figure figure : figures) {
      // An axis of logarithms has no 0.
      figure.ratios().stream()
          .filter(ratio -> ratio > 0)
          .forEach(ratio -> rounds.add(List.of(ratio, figure.name())));
      if (figure.ratio().median() > 0) {
        medians.add(List.of(figure.ratio().median(), figure.name()));
      }
      figure.goals().stream()
          .filter(Goal::ofRatio)
          .forEach(goal -> goals.add(List.of(goal.limit(), figure.name())));
    }
    Map<String, Object> medianDots = dots("median", "circle", 11, medians);
    medianDots.put(
        "markLine",
        Map.of(
            "symbol",
            "none",
            "label",
            Map.of("formatter", "equal", "position", "start"),
            "data",
            List.of(Map.of("xAxis", 1))));
    List<Map<String, ?>> series = new ArrayList<>();
    series.add(dots("round", "circle", 6, rounds));
    series.add(medianDots);
    if (!goals.isEmpty()) {
      series.add(dots("goal", "diamond", 13, goals));
    }
    return Map.of(
        "title",
        Map.of("text", "ours / against, each round", "textStyle", Map.of("fontSize", 14)),
        "legend",
        Map.of("top", 0, "right", 10),
        "tooltip",
        Map.of(),
        "grid",
        Map.of("left", 10, "right", 30, "top", 50, "bottom", 30, "containLabel", true),
        "xAxis",
        axis,
        "yAxis",
        Map.of("type", "category", "data", names, "inverse", true),
        "series",
        series);
  }

  private static Map<String, Object> dots(
      String name, String symbol, int size, List<List<Object>> data) {
    Map<String, Object> series = new LinkedHashMap<>();
    series.put("type", "scatter");
    series.put("name", name);
    series.put("symbol", symbol);
    series.put("symbolSize", size);
    series.put("data", data);
    return series;
  }

  /**
   * Both sides over what grows, both axes logarithmic; the legend names the slopes.
   *
   * @param points figures of one curve, two or more
   */
  static Map<String, ?> curve(List<Figure> points) {
    List<Figure> sorted =
        points.stream().sorted(Comparator.comparingDouble(figure -> figure.curve().at())).toList();
    Figure first = sorted.getFirst();
    List<Map<String, ?>> series = new ArrayList<>();
    series.add(line(first.ours().label(), sorted, figure -> figure.ours().spread().median()));
    if (first.against() != null) {
      series.add(
          line(first.against().label(), sorted, figure -> figure.against().spread().median()));
    }
    return Map.of(
        "title",
        Map.of("text", first.curve().name(), "textStyle", Map.of("fontSize", 14)),
        "legend",
        Map.of("top", 26, "left", 0),
        "tooltip",
        Map.of("trigger", "axis"),
        "grid",
        Map.of("left", 10, "right", 90, "top", 75, "bottom", 10, "containLabel", true),
        "xAxis",
        Map.of("type", "log", "name", first.curve().axis()),
        "yAxis",
        Map.of("type", "log", "name", first.unit()),
        "series",
        series);
  }

  private static Map<String, ?> line(
      String label, List<Figure> sorted, ToDoubleFunction<Figure> value) {
    double[] x = sorted.stream().mapToDouble(figure -> figure.curve().at()).toArray();
    double[] y = sorted.stream().mapToDouble(value).toArray();
    List<List<Double>> data = new ArrayList<>();
    for (int i = 0; i < x.length; i++) {
      data.add(List.of(x[i], y[i]));
    }
    return Map.of(
        "type", "line", "name", label + slope(x, y).orElse(""), "symbolSize", 8, "data", data);
  }

  /** Empty where there is none, as of values that are 0. */
  static Optional<String> slope(double[] x, double[] y) {
    try {
      return Optional.of(String.format(Locale.ROOT, ", slope %.2f", Slope.of(x, y)));
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }
}
