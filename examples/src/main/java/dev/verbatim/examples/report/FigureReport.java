package dev.verbatim.examples.report;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * All figures of a run, by bench: as a text, a JSON file and a page.
 *
 * @param machine on which the benches were started
 * @param commit of what was measured
 * @param time when, ISO 8601
 * @param benches figures by the name of what measured them
 */
public record FigureReport(
    Machine machine, String commit, String time, Map<String, List<Figure>> benches) {
  private static final List<String> COLUMNS =
      List.of("figure", "unit", "ours", "against", "ratio", "goal", "");

  /** Figures with their ratios and verdicts worked out, for programs that read the file. */
  private record Judged(Figure figure, Spread ratio, List<Boolean> met) {}

  /** Writes {@code bench.json} and {@code bench.html}. */
  public void write(Path folder) throws IOException {
    Files.createDirectories(folder);
    Files.writeString(folder.resolve("bench.json"), json() + "\n");
    Files.writeString(folder.resolve("bench.html"), page().html());
  }

  String json() throws IOException {
    Map<String, Object> root = new LinkedHashMap<>();
    root.put("machine", machine);
    root.put("commit", commit);
    root.put("time", time);
    Map<String, List<Judged>> judged = new LinkedHashMap<>();
    benches.forEach(
        (name, figures) -> judged.put(name, figures.stream().map(FigureReport::judge).toList()));
    root.put("benches", judged);
    return new ObjectMapper().writerWithDefaultPrettyPrinter().writeValueAsString(root);
  }

  private static Judged judge(Figure figure) {
    return new Judged(
        figure,
        figure.against() == null ? null : figure.ratio(),
        figure.goals().stream().map(goal -> goal.met(figure)).toList());
  }

  /** A table per bench, for a terminal. */
  public String text() {
    StringBuilder text = new StringBuilder();
    benches.forEach(
        (name, figures) -> {
          List<List<String>> lines = new ArrayList<>();
          lines.add(COLUMNS);
          figures.forEach(figure -> lines.add(row(figure)));
          text.append(name).append('\n').append(TextTable.align(lines)).append('\n');
        });
    return text.toString();
  }

  Page page() {
    Map<String, String> facts = new LinkedHashMap<>();
    facts.put("Commit", commit);
    facts.put("Measured", time);
    facts.putAll(machine.facts());
    Page page = new Page("Verbatim: figures", facts);
    benches.forEach((name, figures) -> section(page, name, figures));
    return page;
  }

  private void section(Page page, String bench, List<Figure> figures) {
    page.section(bench, notes(figures));
    page.table(COLUMNS, figures.stream().map(FigureReport::row).toList());
    List<Figure> compared =
        figures.stream()
            .filter(figure -> figure.against() != null && figure.curve() == null)
            .toList();
    if (!compared.isEmpty()) {
      page.chart(FigureCharts.ratioHeight(compared), FigureCharts.ratios(compared));
    }
    figures.stream()
        .filter(figure -> figure.curve() != null)
        .collect(
            Collectors.groupingBy(
                figure -> figure.curve().name(), LinkedHashMap::new, Collectors.toList()))
        .values()
        .forEach(points -> page.chart(380, FigureCharts.curve(points)));
  }

  /**
   * What each figure and each curve is, its note, and where it is from if that is another place.
   */
  private String notes(List<Figure> figures) {
    Stream<String> notes =
        figures.stream()
            .map(
                figure ->
                    (figure.curve() == null ? figure.name() : figure.curve().name())
                        + ": "
                        + figure.what()
                        + (figure.note() == null ? "" : ". " + figure.note()));
    Stream<String> places =
        figures.stream()
            .map(Figure::origin)
            .filter(origin -> origin != null && !origin.isFrom(machine, commit))
            .map(origin -> "Measured on: " + origin.text());
    return Stream.concat(notes, places).distinct().collect(Collectors.joining("\n"));
  }

  private static List<String> row(Figure figure) {
    Figure.Side against = figure.against();
    Figure.Point point = figure.curve();
    return List.of(
        point == null
            ? figure.name()
            : figure.name() + ", " + Spread.number(point.at()) + " " + point.axis(),
        figure.unit(),
        figure.ours().label() + " " + figure.ours().spread(),
        against == null ? "" : against.label() + " " + against.spread(),
        against == null ? "" : figure.ratio().toString(),
        figure.goals().stream().map(Goal::toString).collect(Collectors.joining(", ")),
        figure.verdict());
  }
}
