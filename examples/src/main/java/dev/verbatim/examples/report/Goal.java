package dev.verbatim.examples.report;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What a figure should be, written as {@code ratio <= 0.1}, {@code ratio >= 0.97} or {@code ours <=
 * 250} (in the figure's unit). Medians are judged.
 *
 * @param ofRatio whether it is about ours / against; otherwise about our value
 * @param atMost otherwise at least
 */
public record Goal(boolean ofRatio, boolean atMost, double limit) {
  private static final Pattern TEXT = Pattern.compile("(ratio|ours) (<=|>=) (\\d+(?:\\.\\d+)?)");

  /**
   * Reads what {@link #toString} writes.
   *
   * @throws IllegalArgumentException for anything else
   */
  @JsonCreator
  public static Goal parse(String text) {
    Matcher parts = TEXT.matcher(text);
    if (!parts.matches()) {
      throw new IllegalArgumentException("A goal is such as 'ratio <= 0.1', not '" + text + "'");
    }
    return new Goal(
        parts.group(1).equals("ratio"),
        parts.group(2).equals("<="),
        Double.parseDouble(parts.group(3)));
  }

  boolean met(Figure figure) {
    double value = (ofRatio ? figure.ratio() : figure.ours().spread()).median();
    return atMost ? value <= limit : value >= limit;
  }

  @JsonValue
  @Override
  public String toString() {
    String number = limit == Math.rint(limit) ? Long.toString((long) limit) : "" + limit;
    return (ofRatio ? "ratio" : "ours") + (atMost ? " <= " : " >= ") + number;
  }
}
