package dev.verbatim.verbs;

import java.util.HashMap;
import java.util.Map;

/** A constant of a C enumeration. Every implementation has one constant for unknown numbers. */
public interface NativeEnum {
  /** The number of the constant that stands for all unknown numbers. */
  int UNKNOWN_NUMBER = Integer.MIN_VALUE;

  /** The constant's value in C. */
  int number();

  /** The constant's name in C. */
  String cName();

  /** Name and number for messages, for example {@code RETRY_EXC_ERR (12)}. */
  static <E extends Enum<E> & NativeEnum> String describe(E constant, int number) {
    return constant.name() + " (" + number + ")";
  }

  /** The constants of one enumeration by number. */
  final class Table<E extends Enum<E> & NativeEnum> {
    private final Map<Integer, E> byNumber = new HashMap<>();

    Table(E[] constants) {
      for (E constant : constants) {
        if (constant.number() != UNKNOWN_NUMBER
            && byNumber.put(constant.number(), constant) != null) {
          throw new AssertionError("two constants for " + constant.number());
        }
      }
    }

    E of(int number, E unknown) {
      return byNumber.getOrDefault(number, unknown);
    }
  }
}
