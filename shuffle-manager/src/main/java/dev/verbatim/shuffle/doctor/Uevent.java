package dev.verbatim.shuffle.doctor;

import java.util.Optional;

/** What the kernel tells of a device in its file {@code uevent}, a line for each key. */
final class Uevent {
  private Uevent() {}

  /** For example {@code ice} of {@code DRIVER}, which is there where a driver is bound. */
  static Optional<String> value(Optional<String> uevent, String key) {
    return uevent
        .flatMap(text -> text.lines().filter(line -> line.startsWith(key + "=")).findFirst())
        .map(line -> line.substring(key.length() + 1));
  }
}
