package dev.verbatim.it.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** What this process holds of the system, as the system tells it: descriptors, mapped files. */
record Holdings(Map<String, Integer> descriptors, List<String> mappedFiles) {
  private static final Path TEMPORARY = Path.of(System.getProperty("java.io.tmpdir"));

  static Holdings now() throws IOException {
    return new Holdings(openDescriptors(), mappedPaths().filter(Holdings::isOurs).toList());
  }

  /** Nothing beyond what was held at first; waits a little, since other processes may be ending. */
  void assertNothingMore() throws Exception {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
    Holdings more = moreThanThese(now());
    while (!more.isEmpty() && System.nanoTime() < end) {
      Thread.sleep(10);
      more = moreThanThese(now());
    }
    assertEquals(Map.of(), more.descriptors, "descriptors left");
    assertEquals(List.of(), more.mappedFiles, "mappings left");
  }

  private boolean isEmpty() {
    return descriptors.isEmpty() && mappedFiles.isEmpty();
  }

  private Holdings moreThanThese(Holdings now) {
    Map<String, Integer> more = new TreeMap<>(now.descriptors);
    more.replaceAll((what, count) -> count - descriptors.getOrDefault(what, 0));
    more.values().removeIf(count -> count <= 0);
    return new Holdings(
        more, now.mappedFiles.stream().filter(path -> !mappedFiles.contains(path)).toList());
  }

  /** How often a file is mapped. */
  static long mappingsOf(Path file) throws IOException {
    return mappedPaths().filter(file.toString()::equals).count();
  }

  /** The virtual machine's own files, opened and mapped when it needs a class, do not count. */
  private static boolean isOurs(String path) {
    return path.startsWith("/dev/infiniband/") || Path.of(path).startsWith(TEMPORARY);
  }

  private static Map<String, Integer> openDescriptors() throws IOException {
    Map<String, Integer> counts = new TreeMap<>();
    try (Stream<Path> all = Files.list(Path.of("/proc/self/fd"))) {
      for (Path descriptor : all.toList()) {
        String what = target(descriptor);
        if (!what.startsWith("/") || isOurs(what)) {
          counts.merge(what.replaceAll(":\\[\\d+]", ""), 1, Integer::sum);
        }
      }
    }
    return counts;
  }

  private static String target(Path descriptor) {
    try {
      return Files.readSymbolicLink(descriptor).toString();
    } catch (IOException e) {
      return "/closed meanwhile";
    }
  }

  private static Stream<String> mappedPaths() throws IOException {
    return Files.readAllLines(Path.of("/proc/self/maps")).stream()
        .map(line -> line.split(" +", 6))
        .filter(words -> words.length == 6 && words[5].startsWith("/"))
        .map(words -> words[5].replace(" (deleted)", ""));
  }
}
