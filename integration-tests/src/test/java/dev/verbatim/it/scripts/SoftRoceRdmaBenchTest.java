package dev.verbatim.it.scripts;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code scripts/rdma-bench} with the real perftest on Linux Soft-RoCE, from this guest to itself.
 */
@Tag("guest")
class SoftRoceRdmaBenchTest {
  private static final String ADDRESS = "10.77.0.1";

  @TempDir private Path folder;

  @Test
  void shouldMeasureAndCompareWhenPerftestRuns() throws Exception {
    Script bench = new Script("rdma-bench", folder);
    Path log = folder.resolve("served.log");
    Process server = bench.start(log, "serve");
    try {
      awaitListener();
      String same = "--sizes 65536 --latency-sizes 8 --iterations 50";
      check(bench.run(run(same)), false);
      Script.Result second = bench.run(run(same));
      check(second, true);
      second.says("last of 1 runs");
      // As Verbatim connects, with its traffic class, and the other operations.
      Script.Result others =
          bench.run(
              run(
                  "--sizes 4096 --latency-sizes none --qps 2 --operations read,write,send -R --tos 106"));
      assertEquals(3, json(others.exits(0)).get("figures").size());
      others.says("no run of this pair");
    } finally {
      server.descendants().forEach(ProcessHandle::destroy);
      server.destroy();
      server.waitFor();
      System.out.println(Files.readString(log));
    }
  }

  private static String[] run(String options) {
    String all =
        "run " + ADDRESS + " --history history --json --seconds 1 --depth 16 --cq-moderation 1 ";
    return (all + options).split(" ");
  }

  private static JsonNode json(Script.Result result) throws Exception {
    return new ObjectMapper().readTree(result.output());
  }

  private static void check(Script.Result result, boolean compared) throws Exception {
    System.out.println(result);
    JsonNode run = json(result.exits(0));
    assertEquals("rxe0", run.get("from").get("device").asText());
    assertEquals(3, run.get("figures").size());
    for (JsonNode figure : run.get("figures")) {
      double value = figure.get("value").asDouble();
      assertTrue(value > 0, figure::toString);
      assertEquals(compared, !figure.get("before").isNull(), figure::toString);
      if (figure.get("unit").asText().equals("us")) {
        assertTrue(figure.get("p99").asDouble() >= value, figure::toString);
      } else {
        // Bytes of all messages; perftest prints both figures with few digits.
        assertEquals(
            value,
            figure.get("messages").asDouble() * 65536 * 8 / 1e9,
            value / 10,
            figure::toString);
      }
    }
  }

  private static void awaitListener() throws Exception {
    String listening = "%04X 00000000:0000 0A".formatted(18514);
    for (int i = 0;
        i < 600 && !Files.readString(Path.of("/proc/net/tcp")).contains(listening);
        i++) {
      TimeUnit.MILLISECONDS.sleep(100);
    }
  }
}
