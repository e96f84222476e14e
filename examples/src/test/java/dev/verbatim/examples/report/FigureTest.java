package dev.verbatim.examples.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class FigureTest {
  @TempDir private Path folder;

  /** The ratio of medians would be 2. */
  @Test
  void shouldPairTheRoundsWhenItTellsRatios() {
    Figure figure = Figures.compared(List.of(1.0, 4.0, 6.0), List.of(2.0, 1.0, 3.0));

    assertEquals(List.of(0.5, 4.0, 2.0), figure.ratios());
    assertEquals(new Spread(0.5, 2, 4), figure.ratio());
  }

  /** Ratios are 0.5, 2 and 4, our values 1, 4 and 6. */
  private static void assertJudged(String goal, String verdict) {
    Figure figure = Figures.compared(List.of(1.0, 4.0, 6.0), List.of(2.0, 1.0, 3.0), goal);

    assertEquals(goal, figure.goals().getFirst().toString());
    assertEquals(verdict, figure.verdict());
  }

  @ParameterizedTest
  @CsvSource({
    "ratio <= 2, met",
    "ratio <= 1.99, MISSED",
    "ratio >= 2, met",
    "ratio >= 2.01, MISSED",
    "ours <= 4, met",
    "ours <= 3.9, MISSED",
    "ours >= 4, met",
    "ours >= 5, MISSED"
  })
  void shouldJudgeTheMedian(String goal, String verdict) {
    assertJudged(goal, verdict);
  }

  @ParameterizedTest
  @CsvSource({
    "ratio <= 2 within noise, met",
    "ratio <= 1 within noise, met",
    "ratio <= 0.5 within noise, met",
    "ratio <= 0.49 within noise, MISSED",
    "ratio >= 4 within noise, met",
    "ratio >= 4.1 within noise, MISSED",
    "ours <= 1 within noise, met",
    "ours <= 0.9 within noise, MISSED"
  })
  void shouldJudgeTheRangeWhenADifferenceWithinNoiseIsNone(String goal, String verdict) {
    assertJudged(goal, verdict);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "ratio < 2",
        "theirs <= 2",
        "ratio <= 0.1.2",
        "ratio <= x",
        "ours<=1",
        "ratio <= 1 in noise"
      })
  void shouldRefuseWhatIsNoGoal(String text) {
    assertThrows(IllegalArgumentException.class, () -> Goal.parse(text));
  }

  @Test
  void shouldRefuseSidesThatDoNotPair() {
    assertThrows(
        IllegalArgumentException.class, () -> Figures.compared(List.of(1.0, 2.0), List.of(1.0)));
    assertThrows(
        IllegalArgumentException.class,
        () ->
            new Figure(
                "x",
                "x",
                "x",
                new Figure.Side("verbatim", List.of(1.0)),
                null,
                List.of(Goal.parse("ratio <= 1")),
                null,
                null));
  }

  @Test
  void shouldReadWhatItWrote() throws IOException {
    Path file = folder.resolve("figures.jsonl");
    List<Figure> figures =
        List.of(
            Figures.compared(List.of(1.0), List.of(2.0), "ratio <= 0.1", "ours <= 250"),
            Figures.alone(3.5),
            Figures.point(1000, 2, 3));

    for (Figure figure : figures) {
      FigureFile.append(file, figure);
    }

    assertEquals(figures, FigureFile.read(file).stream().map(figure -> figure.from(null)).toList());
  }

  /** Files outlive what else is known of a run. */
  @Test
  void shouldSayInEachLineWhereItIsFrom() throws IOException {
    Path file = folder.resolve("figures.jsonl");

    FigureFile.append(file, Figures.alone(3.5));

    Origin origin = FigureFile.read(file).getFirst().origin();
    assertEquals(Machine.here(), origin.machine());
    assertFalse(origin.commit().isBlank());
    assertTrue(origin.time().matches("\\d{4}-\\d\\d-\\d\\dT[0-9:]+Z"), origin.time());
  }

  /** As a shell script writes it. */
  @Test
  void shouldReadTheLeastThatAScriptWrites() throws IOException {
    Path file = folder.resolve("figures.jsonl");
    Files.writeString(
        file,
        """
        {"name":"n","what":"w","unit":"us","ours":{"label":"a","values":[1,2.5]},"against":{"label":"b","values":[2,2]},"goals":["ratio <= 1.1"]}

        """);

    Figure figure = FigureFile.read(file).getFirst();

    assertEquals(List.of(1.0, 2.5), figure.ours().values());
    assertEquals("met", figure.verdict());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "nonsense",
        "{\"name\":\"n\",\"ours\":{\"label\":\"a\",\"values\":[]}}",
        "{\"name\":\"n\",\"our\":{}}"
      })
  void shouldNameTheLineWhenItIsNoFigure(String line) throws IOException {
    Path file = folder.resolve("figures.jsonl");
    FigureFile.append(file, Figures.alone(1));
    Files.writeString(file, Files.readString(file) + line);

    IOException refused = assertThrows(IOException.class, () -> FigureFile.read(file));

    assertEquals(
        file + ", line 2", refused.getMessage().substring(0, (file + ", line 2").length()));
  }
}
