package dev.verbatim.examples.report;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.ArrayList;
import java.util.List;

/**
 * Something that was measured, and what it was compared with in the same run, round by round.
 *
 * @param name short, with dashes, unique in a run
 * @param what is measured, for people
 * @param unit of the values
 * @param ours our values
 * @param against the other's values, one for each of ours; null where there is nothing to compare
 * @param goals what should come out
 * @param note what is a model, simulated or else to be known; null if nothing is
 * @param curve the curve of which this is a point; null if it stands for itself
 * @param origin where and of what it was measured; null until it is written
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Figure(
    String name,
    String what,
    String unit,
    Side ours,
    Side against,
    List<Goal> goals,
    String note,
    Point curve,
    Origin origin) {

  /**
   * One of the two.
   *
   * @param values of the rounds in order
   */
  public record Side(String label, List<Double> values) {
    public Side {
      values = List.copyOf(values);
    }

    public Spread spread() {
      return Spread.of(values);
    }
  }

  /**
   * A point of a curve: cost as work grows.
   *
   * @param name of the curve
   * @param axis what grows
   * @param at how much of it
   */
  public record Point(String name, String axis, double at) {}

  /** One that is not written yet. */
  public Figure(
      String name,
      String what,
      String unit,
      Side ours,
      Side against,
      List<Goal> goals,
      String note,
      Point curve) {
    this(name, what, unit, ours, against, goals, note, curve, null);
  }

  public Figure {
    goals = goals == null ? List.of() : List.copyOf(goals);
    Spread.of(ours.values());
    if (against != null && against.values().size() != ours.values().size()) {
      throw new IllegalArgumentException(name + ": sides with different numbers of rounds");
    }
    if (against == null && goals.stream().anyMatch(Goal::ofRatio)) {
      throw new IllegalArgumentException(name + ": a ratio to nothing");
    }
  }

  Figure from(Origin measuredAt) {
    return new Figure(name, what, unit, ours, against, goals, note, curve, measuredAt);
  }

  /** Ours / against, round by round. */
  public List<Double> ratios() {
    List<Double> ratios = new ArrayList<>();
    for (int i = 0; i < ours.values().size(); i++) {
      ratios.add(ours.values().get(i) / against.values().get(i));
    }
    return ratios;
  }

  /** How {@link #ratios} are spread. */
  public Spread ratio() {
    return Spread.of(ratios());
  }

  /** "met" or "MISSED", for each goal; empty without any. */
  public String verdict() {
    return String.join(
        ", ", goals.stream().map(goal -> goal.met(this) ? "met" : "MISSED").toList());
  }
}
