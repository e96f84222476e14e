package dev.verbatim.it.scripts;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * {@code scripts/rdma-bench} on a machine without a device: both sides run for real and talk over
 * TCP; sysfs is a folder, and perftest is a stand-in that answers with what the real programs
 * printed on Soft-RoCE. {@link SoftRoceRdmaBenchTest} has them all.
 */
@Tag("scripts")
class RdmaBenchTest {
  private static final String V1 = "IB/RoCE v1";
  private static final String V2 = "RoCE v2";
  private static final String LINK_LOCAL = "fe80:0000:0000:0000:5054:00ff:fe77:0001";
  private static final String LOOPBACK = "0000:0000:0000:0000:0000:ffff:7f00:0001";
  private static final String OTHER = "0000:0000:0000:0000:0000:ffff:0a00:0007";
  private static final String ACTIVE = "4: ACTIVE";

  /**
   * From the recordings: t_typical and 99 %, microseconds; average in units of 2^20 bytes per
   * second.
   */
  private static final double READ_LATENCY = 4478.47;

  private static final double READ_LATENCY_99TH = 21415.4;
  private static final double READ_MIB = 27.35;
  private static final double READ_MESSAGES = 438;

  @TempDir private Path folder;
  private SysTree sys;
  private Path log;
  private int port;

  @BeforeEach
  void makeDevice() throws IOException {
    sys =
        new SysTree(folder.resolve("sys"))
            .rocePort("mlx5_0", 1, ACTIVE, V1, LINK_LOCAL, V2, LINK_LOCAL, V1, OTHER, V2, OTHER)
            .rocePort(
                "mlx5_1", 1, ACTIVE, V1, LINK_LOCAL, V2, LINK_LOCAL, V1, LOOPBACK, V2, LOOPBACK);
    log = folder.resolve("perftest.log");
    port = freePort();
  }

  /**
   * One that is free, and so are those after it, perftest's; below those that the kernel gives to
   * clients.
   */
  private static int freePort() {
    for (int first = ThreadLocalRandom.current().nextInt(12_000, 28_000);
        ;
        first = first % 28_000 + 40) {
      if (IntStream.range(first, first + 33).allMatch(RdmaBenchTest::isFree)) {
        return first;
      }
    }
  }

  private static boolean isFree(int candidate) {
    try (ServerSocket socket = new ServerSocket(candidate)) {
      return socket.isBound();
    } catch (IOException e) {
      return false;
    }
  }

  private Script bench() throws IOException {
    Path perftest = Script.resource("perftest/stand-in");
    return new Script("rdma-bench", folder)
        .with("RDMA_BENCH_SYS", sys.root())
        .with("STAND_IN_RECORDINGS", perftest.getParent())
        .with("STAND_IN_LOG", log)
        .withProgram(
            perftest,
            "ib_read_lat",
            "ib_read_bw",
            "ib_write_lat",
            "ib_write_bw",
            "ib_send_lat",
            "ib_send_bw");
  }

  private String[] arguments(String... more) {
    return Stream.concat(
            Stream.of("run", "127.0.0.1", "--control-port", "" + port, "--history", "history"),
            Stream.of(more))
        .toArray(String[]::new);
  }

  /** One run against a side that serves, which ends after it. */
  private Script.Result measure(Script bench, String... options) throws Exception {
    Path served = folder.resolve("served.log");
    Process server =
        bench()
            .start(served, "serve", "--once", "--control-port", "" + port, "--listen", "127.0.0.1");
    try {
      awaitText(served, "waiting at port");
      // socat listens a moment after that line.
      TimeUnit.MILLISECONDS.sleep(500);
      return bench.run(arguments(options));
    } finally {
      server.descendants().forEach(ProcessHandle::destroy);
      server.destroy();
      server.waitFor();
    }
  }

  private static void awaitText(Path file, String text) throws Exception {
    for (int i = 0;
        i < 300 && !(Files.exists(file) && Files.readString(file).contains(text));
        i++) {
      TimeUnit.MILLISECONDS.sleep(100);
    }
    assertTrue(Files.readString(file).contains(text), () -> "no '" + text + "' in " + file);
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
        measure(
            bench(),
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
        measure(
            bench().with("STAND_IN_FACTOR", "100"),
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
    measure(bench(), "--sizes", "4096", "--latency-sizes", "none").exits(0);

    assertEquals(
        List.of(
            "ib_read_bw -F -d mlx5_1 -i 1 -s 4096 -p " + (port + 1) + " -x 3 -q 1 -D 4 -f 1",
            "ib_read_bw -F -d mlx5_1 -i 1 -s 4096 -p "
                + (port + 1)
                + " -x 3 -q 1 -D 4 -f 1 127.0.0.1",
            "ib_read_bw -F -d mlx5_1 -i 1 -s 4096 -p " + (port + 2) + " -x 3 -q 8 -D 4 -f 1",
            "ib_read_bw -F -d mlx5_1 -i 1 -s 4096 -p "
                + (port + 2)
                + " -x 3 -q 8 -D 4 -f 1 127.0.0.1"),
        Files.readAllLines(log));
  }

  @Test
  void shouldPassOnWhatWasChosenWhenThereAreOptions() throws Exception {
    measure(
            bench(),
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
            "--events",
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

    String common = " -R -T 106 -m 1024 -e -o 2";
    assertEquals(
        List.of(
            "ib_read_lat -F -d mlx5_0 -i 1 -s 8 -p " + (port + 1) + common + " -n 99",
            "ib_read_lat -F -d mlx5_0 -i 1 -s 8 -p " + (port + 1) + common + " -n 99 127.0.0.1",
            "ib_read_bw -F -d mlx5_0 -i 1 -s 4096 -p "
                + (port + 2)
                + common
                + " -q 4 -D 9 -f 1 -t 16 -Q 1",
            "ib_read_bw -F -d mlx5_0 -i 1 -s 4096 -p "
                + (port + 2)
                + common
                + " -q 4 -D 9 -f 1 -t 16 -Q 1 127.0.0.1"),
        Files.readAllLines(log));
  }

  @Test
  void shouldSayWhatGotWorseWhenTheLimitIsPassed() throws Exception {
    String[] options = {"--sizes", "4096", "--latency-sizes", "8", "--qps", "1", "--limit", "10"};
    measure(bench(), options).exits(0).says("no run of this pair");
    // Times and rates grow by the same factor: a latency is worse then, a bandwidth better.
    measure(bench().with("STAND_IN_FACTOR", "1.2"), options)
        .exits(3)
        .says("last of 1 runs", "+20.0 %", "worse than before by more than 10 %: read-lat-8\n");
    measure(bench(), options)
        .exits(3)
        .says("last of 2 runs", "-16.7 %", "more than 10 %: read-bw-4096-qp1\n");
    measure(bench().with("STAND_IN_FACTOR", "1.05"), options).exits(0).says("+5.0 %");
    // Other settings are another history.
    measure(
            bench().with("STAND_IN_FACTOR", "9"),
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
    Script bench = bench().withProgram(Script.resource("perftest/ssh-stand-in"), "ssh");

    bench
        .run(
            arguments(
                "--ssh", "ops@storage-7", "--sizes", "4096", "--latency-sizes", "8", "--qps", "1"))
        .exits(0)
        .says("read-lat-8", "read-bw-4096-qp1");

    assertEquals(
        "ssh -o BatchMode=yes -o ConnectTimeout=10 ops@storage-7",
        Files.readAllLines(log).getFirst());
  }

  @Test
  void shouldShowWhatPerftestSaidAndKeepNothingWhenItFails() throws Exception {
    Script bench = bench().with("STAND_IN_FAILURE", "Couldn't modify QP to RTR");

    measure(bench, "--sizes", "4096", "--latency-sizes", "8")
        .exits(1)
        .says("Couldn't modify QP to RTR", "no figure from: ib_read_lat -F -d mlx5_1");

    try (var files = Files.list(folder.resolve("history"))) {
      assertEquals(List.of(), files.toList());
    }
  }

  @Test
  void shouldBindToTheNodeOfTheDeviceWhenTheHostHasSeveral() throws Exception {
    sys.file("devices/system/node/node0/cpulist", "0-7")
        .file("devices/system/node/node1/cpulist", "8-15")
        .file("class/infiniband/mlx5_1/device/numa_node", "1");
    Path numactl = folder.resolve("numactl");
    Files.writeString(
        numactl, "#!/bin/sh\necho \"numactl $*\" >>\"$STAND_IN_LOG\"\nshift 2\nexec \"$@\"\n");
    assertTrue(numactl.toFile().setExecutable(true));

    measure(bench().withProgram(numactl, "numactl"), "--sizes", "none", "--latency-sizes", "8")
        .exits(0)
        .says("bound to NUMA node 1");
    assertTrue(
        Files.readString(log)
            .contains("numactl --cpunodebind=1 --membind=1 ib_read_lat -F -d mlx5_1"),
        Files.readString(log));

    Files.delete(log);
    measure(bench(), "--sizes", "none", "--latency-sizes", "8", "--no-numa").exits(0);
    assertFalse(Files.readString(log).contains("numactl"));
  }

  @Test
  void shouldSayTheRemedyWhenSomethingIsMissing() throws Exception {
    String[] needed = {
      "awk",
      "cat",
      "dirname",
      "getent",
      "ip",
      "mktemp",
      "readlink",
      "realpath",
      "rm",
      "uname",
      "wc",
      "mkdir",
      "mkfifo"
    };
    bench()
        .withNothingBut(needed)
        .run(arguments())
        .exits(1)
        .says("no perftest on", "apt-get install perftest");
    bench()
        .withNothingBut(needed)
        .run("serve")
        .exits(1)
        .says("no socat here", "apt-get install socat");
    bench()
        .run(arguments())
        .exits(1)
        .says("no answer from 127.0.0.1 port " + port, "Connection refused", "rdma-bench serve");

    sys.file("devices/system/node/node0/cpulist", "0")
        .file("devices/system/node/node1/cpulist", "1");
    sys.file("class/infiniband/mlx5_1/device/numa_node", "0");
    Script withoutNumactl = bench().withNothingBut(needed);
    Files.createSymbolicLink(
        folder.resolve("only/ib_read_bw"), Script.resource("perftest/stand-in"));
    withoutNumactl
        .run(arguments())
        .exits(1)
        .says("no numactl", "apt-get install numactl", "--no-numa");
  }

  @Test
  void shouldSayWhatThereIsWhenNoPortFits() throws Exception {
    bench()
        .run(arguments("--device", "mlx5_7"))
        .exits(1)
        .says("no active port of mlx5_7", "mlx5_0/1; mlx5_1/1;");
    bench()
        .run(arguments("--device", "mlx5_1", "--gid-index", "9"))
        .exits(1)
        .says("mlx5_1/1 has no GID 9");
    sys.rocePort("mlx5_1", 1, "1: DOWN");
    bench().run(arguments("--device", "mlx5_1")).exits(1).says("mlx5_1/1, which is 1: DOWN");
    sys.rocePort("mlx5_2", 1, ACTIVE, V2, OTHER);
    bench()
        .run(arguments())
        .exits(1)
        .says("no port on", "RoCE v2 GID of 127.0.0.1", "mlx5_0/1 mlx5_2/1");
    bench()
        .with("RDMA_BENCH_SYS", folder)
        .run(arguments())
        .exits(1)
        .says("no RDMA device on", "rdma link show");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "'' | say serve or run",
        "measure | neither serve nor run, but 'measure'",
        "run | run wants the other HOST",
        "run a b | unexpected 'b'",
        "run host;reboot | run wants the other HOST",
        "run h --sizes 4096,x | --sizes wants a whole number from 1 to 8388608, not 'x'",
        "run h --sizes 16777216 | --sizes wants a whole number from 1 to 8388608",
        "run h --qps none | --qps wants numbers",
        "run h --sizes none --latency-sizes none | nothing to measure",
        "run h --seconds 0 | --seconds wants a whole number from 1 to 3600",
        "run h --seconds | --seconds wants a value",
        "run h --tos 106 | --tos needs -R",
        "run h -R --tos 256 | --tos wants a whole number from 0 to 255",
        "run h --mtu 9000 | --mtu wants 256, 512, 1024, 2048 or 4096",
        "run h --operations atomic | --operations wants read, write or send",
        "run h --limit ten | --limit wants percent",
        "run h --device -x | --device wants NAME or NAME/PORT",
        "run h --ssh -oProxyCommand=x | --ssh wants [USER@]HOST",
        "run h --once | --once is an option of serve",
        "serve --json | --json is an option of run",
        "serve --listen everywhere | --listen wants an IPv4 address",
        "run h --what | unknown option '--what'",
      })
  void shouldExplainWhenItIsUsedWrongly(String words, String explanation) throws Exception {
    String[] arguments = words.isEmpty() ? new String[0] : words.split(" ");
    new Script("rdma-bench", folder)
        .run(arguments)
        .exits(2)
        .says(explanation, "see rdma-bench --help");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "hello 2 127.0.0.1 - - | different versions",
        "hello 1 $(id) - - | is no IPv4 address",
        "start read bw 8 1 5 0 - 1 5 - - - 0 - 0 | no hello yet",
        "shell | unknown request 'shell'",
      })
  void shouldRefuseWhenTheOtherSideAsksForSomethingElse(String request, String refusal)
      throws Exception {
    Process session = bench().start(folder.resolve("session.log"), "session");
    try (var requests = session.outputWriter()) {
      requests.write(request + "\n");
    }
    assertTrue(session.waitFor(1, TimeUnit.MINUTES));
    assertTrue(Files.readString(folder.resolve("session.log")).startsWith("error "));
    assertTrue(Files.readString(folder.resolve("session.log")).contains(refusal));
  }

  @ParameterizedTest
  @CsvSource({
    "atomic bw 8 1 5 0 - 1 5 - - - 0 - 0, no operation",
    "read bw 8 1 5 0 - 1 5 - - - 0 - 0 --out_json_file=/etc/passwd, more than is known",
    "read bw -a 1 5 0 - 1 5 - - - 0 - 0, size is no number",
  })
  void shouldRefuseWhenTheOtherSideAsksForWhatIsNoStep(String step, String refusal)
      throws Exception {
    Process session = bench().start(folder.resolve("session.log"), "session");
    try (var requests = session.outputWriter()) {
      requests.write("hello 1 127.0.0.1 - -\nstart " + step + "\n");
    }
    assertTrue(session.waitFor(1, TimeUnit.MINUTES));
    String answers = Files.readString(folder.resolve("session.log"));
    assertTrue(
        answers.startsWith("host ") && answers.contains("error ") && answers.contains(refusal),
        answers);
    assertFalse(Files.exists(log));
  }
}
