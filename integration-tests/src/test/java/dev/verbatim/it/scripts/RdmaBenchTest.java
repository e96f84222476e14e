package dev.verbatim.it.scripts;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What {@code scripts/rdma-bench} measures, keeps and compares; see {@link StoodInBench}. */
@Tag("scripts")
class RdmaBenchTest {
  /**
   * From the recordings: t_typical and 99 %, microseconds; average in units of 2^20 bytes per
   * second.
   */
  private static final double READ_LATENCY = 4478.47;

  private static final double READ_LATENCY_99TH = 21415.4;
  private static final double READ_MIB = 27.35;
  private static final double READ_MESSAGES = 438;

  @TempDir private Path folder;
  private StoodInBench bench;

  @BeforeEach
  void makeDevice() throws IOException {
    bench = new StoodInBench(folder);
  }

  private static JsonNode figure(JsonNode run, String name) {
    for (JsonNode figure : run.get("figures")) {
      if (figure.get("name").asText().equals(name)) {
        return figure;
      }
    }
    throw new AssertionError("no " + name + " in " + run);
  }

  private static JsonNode json(String text) throws IOException {
    return new ObjectMapper().readTree(text);
  }

  @Test
  void shouldMeasureAndKeepWhatPerftestPrintsWhenItRuns() throws Exception {
    Script.Result result =
        bench.measure(
            bench.script(),
            "--operations",
            "read,write,send",
            "--sizes",
            "4096",
            "--latency-sizes",
            "8",
            "--json");

    result.exits(0);
    JsonNode run = json(result.output());
    assertEquals(READ_LATENCY, figure(run, "read-lat-8").get("value").asDouble());
    assertEquals(READ_LATENCY_99TH, figure(run, "read-lat-8").get("p99").asDouble());
    assertEquals(
        READ_MIB * 1048576 * 8 / 1e9,
        figure(run, "read-bw-4096-qp1").get("value").asDouble(),
        1e-4);
    assertEquals(
        List.of(
            "read-lat-8",
            "read-bw-4096-qp1",
            "read-bw-4096-qp8",
            "write-lat-8",
            "write-bw-4096-qp1",
            "write-bw-4096-qp8",
            "send-lat-8",
            "send-bw-4096-qp1",
            "send-bw-4096-qp8"),
        run.get("figures").findValuesAsText("name"));
    assertEquals("mlx5_1", run.get("from").get("device").asText());
    List<String> kept = Files.readAllLines(Path.of(run.get("history").asText()));
    assertEquals(1, kept.size());
    assertEquals(run.get("settings"), json(kept.getFirst()).get("settings"));
  }

  @Test
  void shouldTakeTheRateOfMessagesWhenItHasMoreDigits() throws Exception {
    Script.Result result =
        bench.measure(
            bench.script().with("STAND_IN_FACTOR", "100"),
            "--sizes",
            "2",
            "--latency-sizes",
            "none",
            "--qps",
            "1",
            "--json");

    assertEquals(
        READ_MESSAGES * 100 * 2 * 8 / 1e9,
        figure(json(result.exits(0).output()), "read-bw-2-qp1").get("value").asDouble(),
        1e-9);
  }

  @Test
  void shouldUseTheGidOfTheAddressWhenSeveralPortsAreActive() throws Exception {
    bench.measure(bench.script(), "--sizes", "4096", "--latency-sizes", "none").exits(0);

    assertEquals(
        List.of(
            "ib_read_bw -F -d mlx5_1 -i 1 -s 4096 -p "
                + (bench.port() + 1)
                + " -x 3 -q 1 -D 4 -f 1",
            "ib_read_bw -F -d mlx5_1 -i 1 -s 4096 -p "
                + (bench.port() + 1)
                + " -x 3 -q 1 -D 4 -f 1 127.0.0.1",
            "ib_read_bw -F -d mlx5_1 -i 1 -s 4096 -p "
                + (bench.port() + 2)
                + " -x 3 -q 8 -D 4 -f 1",
            "ib_read_bw -F -d mlx5_1 -i 1 -s 4096 -p "
                + (bench.port() + 2)
                + " -x 3 -q 8 -D 4 -f 1 127.0.0.1"),
        Files.readAllLines(bench.log()));
  }

  @Test
  void shouldPassOnWhatWasChosenWhenThereAreOptions() throws Exception {
    bench
        .measure(
            bench.script(),
            "--sizes",
            "4096",
            "--latency-sizes",
            "8",
            "--qps",
            "4",
            "--seconds",
            "7",
            "--iterations",
            "99",
            "--depth",
            "16",
            "--outstanding",
            "2",
            "--cq-moderation",
            "1",
            "--mtu",
            "1024",
            "--device",
            "mlx5_0/1",
            "--gid-index",
            "1",
            "--peer-device",
            "mlx5_0",
            "--peer-gid-index",
            "3",
            "-R",
            "--tos",
            "106")
        .exits(0);

    String common = " -R -T 106 -m 1024 -o 2";
    assertEquals(
        List.of(
            "ib_read_lat -F -d mlx5_0 -i 1 -s 8 -p " + (bench.port() + 1) + common + " -n 99",
            "ib_read_lat -F -d mlx5_0 -i 1 -s 8 -p "
                + (bench.port() + 1)
                + common
                + " -n 99 127.0.0.1",
            "ib_read_bw -F -d mlx5_0 -i 1 -s 4096 -p "
                + (bench.port() + 2)
                + common
                + " -q 4 -D 9 -f 1 -t 16 -Q 1",
            "ib_read_bw -F -d mlx5_0 -i 1 -s 4096 -p "
                + (bench.port() + 2)
                + common
                + " -q 4 -D 9 -f 1 -t 16 -Q 1 127.0.0.1"),
        Files.readAllLines(bench.log()));
  }

  @Test
  void shouldSayWhatGotWorseWhenTheLimitIsPassed() throws Exception {
    String[] options = {"--sizes", "4096", "--latency-sizes", "8", "--qps", "1", "--limit", "10"};
    bench.measure(bench.script(), options).exits(0).says("no run of this pair");
    // Times and rates grow by the same factor: a latency is worse then, a bandwidth better.
    bench
        .measure(bench.script().with("STAND_IN_FACTOR", "1.2"), options)
        .exits(3)
        .says("last of 1 runs", "+20.0 %", "worse than the best by more than 10 %: read-lat-8\n");
    bench
        .measure(bench.script(), options)
        .exits(3)
        .says("last of 2 runs", "-16.7 %", "more than 10 %: read-bw-4096-qp1\n");
    // Better than the last one, but not as good as it was before.
    bench
        .measure(bench.script().with("STAND_IN_FACTOR", "1.05"), options)
        .exits(3)
        .says("last of 3 runs", "+5.0 %", "more than 10 %: read-bw-4096-qp1\n");
    bench.measure(bench.script().with("STAND_IN_FACTOR", "1.09"), options).exits(0).says("+3.8 %");
    // Other settings are another history.
    bench
        .measure(
            bench.script().with("STAND_IN_FACTOR", "9"),
            "--sizes",
            "4096",
            "--latency-sizes",
            "8",
            "--seconds",
            "3",
            "--limit",
            "10")
        .exits(0)
        .says("no run of this pair");
  }

  @Test
  void shouldBringItselfAlongWhenTheOtherSideIsStartedBySsh() throws Exception {
    Script script = bench.script().withProgram(Script.resource("perftest/ssh-stand-in"), "ssh");

    script
        .run(
            bench.arguments(
                "--ssh", "ops@storage-7", "--sizes", "4096", "--latency-sizes", "8", "--qps", "1"))
        .exits(0)
        .says("read-lat-8", "read-bw-4096-qp1");

    assertEquals(
        "ssh -o BatchMode=yes -o ConnectTimeout=10 ops@storage-7",
        Files.readAllLines(bench.log()).getFirst());
  }

  @Test
  void shouldShowWhatPerftestSaidAndKeepNothingWhenItFails() throws Exception {
    Script script = bench.script().with("STAND_IN_FAILURE", "Couldn't modify QP to RTR");

    bench
        .measure(script, "--sizes", "4096", "--latency-sizes", "8")
        .exits(1)
        .says("Couldn't modify QP to RTR", "no figure from: ib_read_lat -F -d mlx5_1");

    try (var files = Files.list(folder.resolve("history"))) {
      assertEquals(List.of(), files.toList());
    }
  }

  @Test
  void shouldBindToTheNodeOfTheDeviceWhenTheHostHasSeveral() throws Exception {
    bench
        .sys()
        .file("devices/system/node/node0/cpulist", "0-7")
        .file("devices/system/node/node1/cpulist", "8-15")
        .file("class/infiniband/mlx5_1/device/numa_node", "1");
    Path numactl =
        Script.program(
            folder.resolve("numactl"),
            "#!/bin/sh\necho \"numactl $*\" >>\"$STAND_IN_LOG\"\nshift 2\nexec \"$@\"\n");

    bench
        .measure(
            bench.script().withProgram(numactl, "numactl"),
            "--sizes",
            "none",
            "--latency-sizes",
            "8")
        .exits(0)
        .says("bound to NUMA node 1");
    assertTrue(
        Files.readString(bench.log())
            .contains("numactl --cpunodebind=1 --membind=1 ib_read_lat -F -d mlx5_1"),
        Files.readString(bench.log()));

    Files.delete(bench.log());
    bench.measure(bench.script(), "--sizes", "none", "--latency-sizes", "8", "--no-numa").exits(0);
    assertFalse(Files.readString(bench.log()).contains("numactl"));
  }
}
