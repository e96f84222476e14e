package dev.verbatim.examples.report;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;

/**
 * Figures as a bench leaves them: one JSON object in each line, in UTF-8. So a shell script can
 * write them as well.
 */
public final class FigureFile {
  private static final ObjectMapper JSON = new ObjectMapper();

  private FigureFile() {}

  /** Adds a figure that was measured here; the file need not exist. */
  public static void append(Path file, Figure figure) throws IOException {
    Files.writeString(
        file,
        JSON.writeValueAsString(figure.from(Origin.here())) + "\n",
        StandardOpenOption.CREATE,
        StandardOpenOption.APPEND);
  }

  /**
   * All figures of a file.
   *
   * @throws IOException when a line is no figure; the message names it
   */
  public static List<Figure> read(Path file) throws IOException {
    List<Figure> figures = new ArrayList<>();
    int number = 0;
    for (String line : Files.readAllLines(file)) {
      number++;
      if (line.isBlank()) {
        continue;
      }
      try {
        figures.add(JSON.readValue(line, Figure.class));
      } catch (JsonProcessingException e) {
        throw new IOException(file + ", line " + number + ": " + e.getOriginalMessage(), e);
      }
    }
    return figures;
  }
}
