package dev.verbatim.examples.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Where figures were measured.
 *
 * @param cpu model name
 * @param cores that this JVM may use
 * @param memoryBytes of the machine
 */
public record Machine(String cpu, int cores, long memoryBytes, String kernel, String jdk) {
  private static final String UNKNOWN = "unknown";

  /** The one that this JVM runs on. */
  public static Machine here() {
    String memory = value(Path.of("/proc/meminfo"), "MemTotal").replaceAll("\\D", "");
    return new Machine(
        value(Path.of("/proc/cpuinfo"), "model name"),
        Runtime.getRuntime().availableProcessors(),
        memory.isEmpty() ? 0 : Long.parseLong(memory) << 10,
        System.getProperty("os.name") + " " + System.getProperty("os.version"),
        System.getProperty("java.vendor") + " " + System.getProperty("java.runtime.version"));
  }

  /** Value of the first line "key : value". */
  private static String value(Path file, String key) {
    try (Stream<String> lines = Files.lines(file)) {
      return lines
          .filter(line -> line.startsWith(key))
          .findFirst()
          .map(line -> line.substring(line.indexOf(':') + 1).strip())
          .orElse(UNKNOWN);
    } catch (IOException e) {
      return UNKNOWN;
    }
  }

  /** What a page says about it. */
  public Map<String, String> facts() {
    Map<String, String> facts = new LinkedHashMap<>();
    facts.put("CPU", cpu + ", " + cores + " cores");
    facts.put("Memory", Spread.number(memoryBytes / 1e9) + " GB");
    facts.put("Kernel", kernel);
    facts.put("JDK", jdk);
    return facts;
  }
}
