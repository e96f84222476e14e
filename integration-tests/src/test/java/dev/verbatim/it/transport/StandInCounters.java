package dev.verbatim.it.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/** What the stand-in device says that this process holds of it; a real device does not tell. */
final class StandInCounters {
  /** The connection manager itself keeps a context. */
  private static final List<String> HELD =
      List.of("pds", "mrs", "comp_channels", "cqs", "qps", "cm_channels", "cm_ids");

  private StandInCounters() {}

  static void assertNothingLeft() throws Exception {
    if (PortControl.StandInFaults.present()) {
      long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
      while (!held().isEmpty() && System.nanoTime() < end) {
        Thread.sleep(10); // the counters follow within 20 ms
      }
      assertEquals(Map.of(), held(), "left at the device");
    }
  }

  private static Map<String, Long> held() {
    Map<String, Long> held = all();
    held.keySet().retainAll(HELD);
    held.values().removeIf(count -> count == 0);
    return held;
  }

  /** The counter of this name in this process. */
  static long of(String name) {
    return all().get(name);
  }

  private static Map<String, Long> all() {
    Path folder = Path.of(System.getenv("VERBATIM_STANDIN_DIR"), "counters");
    Path file = folder.resolve(Long.toString(ProcessHandle.current().pid()));
    Map<String, Long> counters = new TreeMap<>();
    try {
      for (String line : Files.readAllLines(file)) {
        String[] words = line.split(" ");
        counters.put(words[0], Long.valueOf(words[1]));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return counters;
  }
}
