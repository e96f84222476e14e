package dev.verbatim.transport;

import java.time.Duration;

/** Refuses values of a configuration that are out of their range. */
final class Ranges {
  private Ranges() {}

  static void check(String name, long value, long least, long most) {
    if (value < least || value > most) {
      throw new IllegalArgumentException(
          name + " = " + value + " is out of range: " + least + " to " + most);
    }
  }

  static void check(String name, Duration value, Duration least, Duration most) {
    if (value.compareTo(least) < 0 || value.compareTo(most) > 0) {
      throw new IllegalArgumentException(
          name + " = " + value + " is out of range: " + least + " to " + most);
    }
  }
}
