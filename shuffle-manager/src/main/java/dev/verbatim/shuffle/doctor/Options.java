package dev.verbatim.shuffle.doctor;

import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Options of the doctor's programs. Read here, since the plugin jar carries nothing but its own
 * classes and Spark has no library for it.
 *
 * @param json write JSON and not text
 * @param only names of the checks to run; empty for all
 * @param record file to keep what was seen in
 * @param replay recording to examine in place of this host
 * @param pairs READ between hosts, too
 * @param help write how to use the program, and no more
 */
record Options(
    boolean json,
    Set<String> only,
    Optional<Path> record,
    Optional<Path> replay,
    boolean pairs,
    boolean help) {

  /**
   * @throws IllegalArgumentException naming the option that is not known or lacks its value
   */
  static Options parse(String... arguments) {
    boolean json = false;
    boolean pairs = false;
    boolean help = false;
    Set<String> only = new LinkedHashSet<>();
    Path record = null;
    Path replay = null;
    for (int i = 0; i < arguments.length; i++) {
      switch (arguments[i]) {
        case "--json" -> json = true;
        case "--pairs" -> pairs = true;
        case "-h", "--help" -> help = true;
        case "--only" -> only.addAll(checks(value(arguments, i++)));
        case "--record" -> record = Path.of(value(arguments, i++));
        case "--replay" -> replay = Path.of(value(arguments, i++));
        default -> throw new IllegalArgumentException("unknown option " + arguments[i]);
      }
    }
    return new Options(
        json, only, Optional.ofNullable(record), Optional.ofNullable(replay), pairs, help);
  }

  private static String value(String[] arguments, int option) {
    if (option + 1 == arguments.length) {
      throw new IllegalArgumentException(arguments[option] + " needs a value");
    }
    return arguments[option + 1];
  }

  private static List<String> checks(String text) {
    List<String> names = List.of(text.split(","));
    for (String name : names) {
      if (!Doctor.names().contains(name)) {
        throw new IllegalArgumentException(
            "--only: no check " + name + "; there are " + String.join(", ", Doctor.names()));
      }
    }
    return names;
  }
}
