package dev.verbatim.shuffle.doctor;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * What a host has answered, as one text: for each answer a line {@code === KIND NAME}, and below it
 * the answer. Kinds are {@code file}, {@code access}, {@code tool}, {@code tool-failed}, {@code
 * addresses}, those without a name, and {@code later} before any of them for a second look.
 */
final class Recording {
  static final String FILE = "file ";
  static final String ACCESS = "access ";
  static final String TOOL = "tool ";
  static final String TOOL_FAILED = "tool-failed ";
  static final String ADDRESSES = "addresses ";
  static final String LATER = "later ";
  static final String HOST = "host";
  static final String JDK = "jdk";
  static final String JAVA_HOME = "java-home";
  static final String MEMORY = "memory";
  static final String VERBS = "verbs";

  private static final String HEAD = "=== ";

  private final SortedMap<String, String> answers = new TreeMap<>();

  static Recording parse(String text) {
    Recording recording = new Recording();
    String name = null;
    StringBuilder answer = new StringBuilder();
    for (String line : text.lines().toList()) {
      if (line.startsWith(HEAD)) {
        recording.keep(name, answer);
        name = line.substring(HEAD.length());
      } else {
        answer.append(line).append('\n');
      }
    }
    recording.keep(name, answer);
    return recording;
  }

  private void keep(String name, StringBuilder answer) {
    if (name != null) {
      put(name, answer.toString());
    }
    answer.setLength(0);
  }

  /**
   * @throws IllegalArgumentException where the file cannot be read
   */
  static Recording read(Path file) {
    try {
      return parse(Files.readString(file));
    } catch (IOException e) {
      throw new IllegalArgumentException("the recording " + file + " cannot be read: " + e, e);
    }
  }

  /**
   * @throws IllegalArgumentException where the file cannot be written
   */
  void write(Path file) {
    try {
      Files.writeString(file, text());
    } catch (IOException e) {
      throw new IllegalArgumentException("no recording can be written to " + file + ": " + e, e);
    }
  }

  String text() {
    return answers.entrySet().stream()
        .map(a -> HEAD + a.getKey() + "\n" + (a.getValue().isEmpty() ? "" : a.getValue() + "\n"))
        .collect(Collectors.joining());
  }

  Recording put(String name, String answer) {
    answers.put(name, answer.strip());
    return this;
  }

  /** Names alone never take the place of an answer. */
  void putName(String name) {
    answers.putIfAbsent(name, "");
  }

  Recording remove(String name) {
    answers.remove(name);
    return this;
  }

  Optional<String> get(String name) {
    return Optional.ofNullable(answers.get(name));
  }

  /** Answers whose names begin so. */
  Map<String, String> under(String prefix) {
    return answers.subMap(prefix, prefix + Character.MAX_VALUE);
  }
}
