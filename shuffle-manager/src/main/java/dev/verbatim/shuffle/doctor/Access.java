package dev.verbatim.shuffle.doctor;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Who may use a file.
 *
 * @param mode as {@code ls} writes it, without the type: {@code rw-rw-rw-}
 * @param usable whether this very process may read and write it
 */
record Access(String mode, String owner, String group, boolean usable) {
  private static final Pattern TEXT = Pattern.compile("(\\S+) (\\S+):(\\S+), (not )?usable");

  static Optional<Access> parse(String text) {
    Matcher matcher = TEXT.matcher(text);
    return matcher.matches()
        ? Optional.of(
            new Access(
                matcher.group(1), matcher.group(2), matcher.group(3), matcher.group(4) == null))
        : Optional.empty();
  }

  @Override
  public String toString() {
    return mode + " " + owner + ":" + group + ", " + (usable ? "usable" : "not usable");
  }
}
