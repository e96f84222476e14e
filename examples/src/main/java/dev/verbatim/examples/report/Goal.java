package dev.verbatim.examples.report;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What a figure should be, written as {@code ratio <= 0.1}, {@code ratio >= 0.97} or {@code ours <=
 * 250} (in the figure's unit). Medians are judged; with {@code ratio <= 1 within noise} a limit
 * that lies within the range of the rounds is met too.
 *
 * @param ofRatio whether it is about ours / against; otherwise about our value
 * @param atMost otherwise at least
 * @param withinNoise whether a difference within the range of the rounds counts as none
 */
public record Goal(boolean ofRatio, boolean atMost, double limit, boolean withinNoise) {
  private static final String WITHIN_NOISE = " within noise";
  private static final Pattern TEXT =
      Pattern.compile("(ratio|ours) (<=|>=) (\\d+(?:\\.\\d+)?)(" + WITHIN_NOISE + ")?");

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
        Double.parseDouble(parts.group(3)),
        parts.group(4) != null);
  }

  boolean met(Figure figure) {
    Spread spread = ofRatio ? figure.ratio() : figure.ours().spread();
    double value = spread.median();
    if (withinNoise) { // the range has the median in it
      value = atMost ? spread.min() : spread.max();
    }
    return atMost ? value <= limit : value >= limit;
  }

  @JsonValue
  @Override
  public String toString() {
    String number = limit == Math.rint(limit) ? Long.toString((long) limit) : "" + limit;
    return (ofRatio ? "ratio" : "ours")
        + (atMost ? " <= " : " >= ")
        + number
        + (withinNoise ? WITHIN_NOISE : "");
  }
}
