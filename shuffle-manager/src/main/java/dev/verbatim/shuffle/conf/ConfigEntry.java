package dev.verbatim.shuffle.conf;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * One setting, declared once: the parser, the validation and the reference in the documentation all
 * come from here.
 *
 * @param <T> type of the value
 */
public final class ConfigEntry<T> {
  private static final Pattern NUMBER_AND_UNIT = Pattern.compile("(\\d{1,18})\\s*([a-z]*)");
  private static final Map<String, Long> TIME_UNITS =
      Map.of("us", 1L, "ms", 1000L, "s", 1_000_000L, "m", 60_000_000L, "h", 3_600_000_000L);
  private static final Map<String, Integer> BYTE_SHIFTS =
      Map.of("b", 0, "k", 10, "m", 20, "g", 30, "t", 40);

  private final String name;
  private final String type;
  private final String defaultText;
  private final String range;
  private final String doc;
  private final Function<String, T> parser;

  private ConfigEntry(
      String name,
      String type,
      String defaultText,
      String range,
      String doc,
      Function<String, T> parser) {
    this.name = name;
    this.type = type;
    this.defaultText = defaultText;
    this.range = range;
    this.doc = doc;
    this.parser = parser;
  }

  static ConfigEntry<Boolean> flag(String name, boolean value, String doc) {
    return new ConfigEntry<>(
        name,
        "boolean",
        Boolean.toString(value),
        "true or false",
        doc,
        text ->
            switch (text.toLowerCase(Locale.ROOT)) {
              case "true" -> true;
              case "false" -> false;
              default -> throw new IllegalArgumentException("not a boolean");
            });
  }

  static ConfigEntry<Integer> integer(String name, int value, int min, int max, String doc) {
    return new ConfigEntry<>(
        name,
        "integer",
        Integer.toString(value),
        min + " to " + max,
        doc,
        text -> Math.toIntExact(checked(Long.parseLong(text), min, max)));
  }

  /** Bytes; a number without a unit counts bytes, units are powers of 1024. */
  static ConfigEntry<Long> bytes(String name, String value, String min, String max, String doc) {
    long low = parseBytes(min);
    long high = parseBytes(max);
    return new ConfigEntry<>(
        name,
        "bytes",
        value,
        min + " to " + max,
        doc,
        text -> checked(parseBytes(text), low, high));
  }

  /** A time; a number without a unit counts milliseconds. */
  static ConfigEntry<Duration> time(String name, String value, String min, String max, String doc) {
    Duration low = parseTime(min);
    Duration high = parseTime(max);
    return new ConfigEntry<>(
        name,
        "time",
        value,
        min + " to " + max,
        doc,
        text -> {
          Duration time = parseTime(text);
          if (time.compareTo(low) < 0 || time.compareTo(high) > 0) {
            throw new IllegalArgumentException("out of range");
          }
          return time;
        });
  }

  static ConfigEntry<String> text(String name, String range, String doc) {
    return new ConfigEntry<>(name, "text", "", range, doc, Function.identity());
  }

  /** An IP literal; names are not resolved, because what a name means differs between hosts. */
  static ConfigEntry<String> ipAddress(String name, String doc) {
    return new ConfigEntry<>(
        name,
        "address",
        "",
        "an IPv4 or IPv6 literal, no wildcard, or empty",
        doc,
        text -> {
          InetAddress address = text.isEmpty() ? null : parseAddress(text);
          if (!text.isEmpty() && address == null) {
            throw new IllegalArgumentException("not an IP literal");
          }
          if (address != null && address.isAnyLocalAddress()) {
            throw new IllegalArgumentException("a wildcard");
          }
          return text;
        });
  }

  /** Null when the text is not an IP literal. */
  static InetAddress parseAddress(String text) {
    if (!text.matches("[0-9.]+|\\[?[0-9a-fA-F:.]*:[0-9a-fA-F:.%\\w]*]?")) {
      return null;
    }
    try {
      return InetAddress.getByName(text);
    } catch (UnknownHostException e) {
      return null;
    }
  }

  private static long checked(long value, long min, long max) {
    if (value < min || value > max) {
      throw new IllegalArgumentException("out of range");
    }
    return value;
  }

  private static long parseBytes(String text) {
    Matcher matcher = NUMBER_AND_UNIT.matcher(text.trim().toLowerCase(Locale.ROOT));
    if (!matcher.matches()) {
      throw new IllegalArgumentException("not a size");
    }
    String unit = matcher.group(2);
    if (unit.length() == 2 && unit.endsWith("b")) {
      unit = unit.substring(0, 1);
    }
    Integer shift = unit.isEmpty() ? Integer.valueOf(0) : BYTE_SHIFTS.get(unit);
    if (shift == null) {
      throw new IllegalArgumentException("not a unit of size");
    }
    return Math.multiplyExact(Long.parseLong(matcher.group(1)), 1L << shift);
  }

  private static Duration parseTime(String text) {
    Matcher matcher = NUMBER_AND_UNIT.matcher(text.trim().toLowerCase(Locale.ROOT));
    if (!matcher.matches()) {
      throw new IllegalArgumentException("not a time");
    }
    String unit = matcher.group(2).replace("min", "m");
    Long micros = unit.isEmpty() ? Long.valueOf(1000) : TIME_UNITS.get(unit);
    if (micros == null) {
      throw new IllegalArgumentException("not a unit of time");
    }
    return Duration.of(
        Math.multiplyExact(Long.parseLong(matcher.group(1)), micros),
        java.time.temporal.ChronoUnit.MICROS);
  }

  /** The key in Spark's configuration. */
  public String sparkKey() {
    return RdmaConf.SPARK_PREFIX + name;
  }

  /** The key in {@code rdma-site.xml}. */
  public String siteKey() {
    return RdmaConf.SITE_PREFIX + name;
  }

  public String type() {
    return type;
  }

  public String defaultText() {
    return defaultText;
  }

  public String range() {
    return range;
  }

  public String doc() {
    return doc;
  }

  /** The one message says all: Spark wraps it, and users see the innermost. */
  T parse(String key, String text) {
    String problem;
    try {
      return parser.apply(text.trim());
    } catch (NumberFormatException e) {
      problem = "not a number";
    } catch (IllegalArgumentException | ArithmeticException e) {
      problem = e.getMessage();
    }
    throw new IllegalArgumentException(
        key + " = '" + text + "' is not valid: " + problem + "; type " + type + ", range " + range);
  }
}
