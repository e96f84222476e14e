package dev.verbatim.it.scripts;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What {@code scripts/rdma-bench} says where it cannot measure, and what it refuses. */
@Tag("scripts")
class RdmaBenchErrorsTest {
  @TempDir private Path folder;
  private StoodInBench bench;

  @BeforeEach
  void makeDevice() throws IOException {
    bench = new StoodInBench(folder);
  }

  @Test
  void shouldSayTheRemedyWhenSomethingIsMissing() throws Exception {
    String[] needed =
        "awk cat getent ip mkdir mkfifo mktemp readlink realpath rm uname wc".split(" ");
    bench
        .script()
        .withNothingBut(needed)
        .run(bench.arguments())
        .exits(1)
        .says("no perftest on", "apt-get install perftest");
    bench
        .script()
        .withNothingBut(needed)
        .run("serve")
        .exits(1)
        .says("no socat here", "apt-get install socat");
    bench
        .script()
        .run(bench.arguments())
        .exits(1)
        .says(
            "no answer from 127.0.0.1 port " + bench.port(),
            "Connection refused",
            "rdma-bench serve");

    bench
        .sys()
        .file("devices/system/node/node0/cpulist", "0")
        .file("devices/system/node/node1/cpulist", "1");
    bench.sys().file("class/infiniband/mlx5_1/device/numa_node", "0");
    Script withoutNumactl = bench.script().withNothingBut(needed);
    Files.copy(
        Script.resource("perftest/stand-in"),
        folder.resolve("only/ib_read_bw"),
        StandardCopyOption.COPY_ATTRIBUTES);
    withoutNumactl
        .run(bench.arguments())
        .exits(1)
        .says("no numactl", "apt-get install numactl", "--no-numa");
  }

  /**
   * A bandwidth may be measured for an hour. Not by SIGINT, as from Ctrl-C, which comes to the
   * same: a test in the background has it ignored.
   */
  @Test
  void shouldEndAtOnceWhenItIsEndedWhileItMeasures() throws Exception {
    Path log = folder.resolve("run.log");
    Process server =
        bench
            .script()
            .start(
                folder.resolve("served.log"),
                "serve",
                "--once",
                "--control-port",
                "" + bench.port());
    try {
      Process run;
      do { // until the other side listens
        run = bench.script().with("STAND_IN_SECONDS", 300).start(log, bench.arguments());
      } while (!hasStarted(run, "sleep"));
      List<ProcessHandle> children = run.descendants().toList();
      run.destroy();
      assertTrue(run.waitFor(20, TimeUnit.SECONDS), "it goes on");
      assertEquals(128 + 15, run.exitValue());
      for (ProcessHandle child : children) {
        child.onExit().get(20, TimeUnit.SECONDS);
      }
    } finally {
      server.descendants().forEach(ProcessHandle::destroy);
      server.destroy();
      server.waitFor();
    }
  }

  /** False when it has ended without. */
  private static boolean hasStarted(Process process, String program) throws Exception {
    while (process.isAlive()) {
      if (process
          .descendants()
          .anyMatch(child -> child.info().command().orElse("").endsWith("/" + program))) {
        return true;
      }
      TimeUnit.MILLISECONDS.sleep(100);
    }
    return false;
  }

  @Test
  void shouldSayWhatThereIsWhenNoPortFits() throws Exception {
    bench
        .script()
        .run(bench.arguments("--device", "mlx5_7"))
        .exits(1)
        .says("no active port of mlx5_7", "mlx5_0/1; mlx5_1/1;");
    bench
        .script()
        .run(bench.arguments("--device", "mlx5_1", "--gid-index", "9"))
        .exits(1)
        .says("mlx5_1/1 has no GID 9");
    bench.sys().rocePort("mlx5_1", 1, "1: DOWN");
    bench
        .script()
        .run(bench.arguments("--device", "mlx5_1"))
        .exits(1)
        .says("mlx5_1/1, which is 1: DOWN");
    bench.sys().rocePort("mlx5_2", 1, StoodInBench.ACTIVE, StoodInBench.V2, StoodInBench.OTHER);
    bench
        .script()
        .run(bench.arguments())
        .exits(1)
        .says("no port on", "RoCE v2 GID of 127.0.0.1", "mlx5_0/1 mlx5_2/1");
    bench
        .script()
        .with("RDMA_BENCH_SYS", folder)
        .run(bench.arguments())
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
        "start read bw 8 1 5 0 - 1 5 - - - - 0 | no hello yet",
        "shell | unknown request 'shell'",
        "HELLO;start atomic bw 8 1 5 0 - 1 5 - - - - 0 | no operation 'atomic'",
        "HELLO;start read bw -a 1 5 0 - 1 5 - - - - 0 | size is no number: '-a'",
        "HELLO;start read bw 8 1 5 0 - 1 5 - - - - 0 --out_json_file=/x | more than is known",
      })
  void shouldRefuseWhenTheOtherSideAsksForWhatIsNoStep(String requests, String refusal)
      throws Exception {
    Path answers = folder.resolve("session.log");
    Process session = bench.script().start(answers, "session");
    try (var lines = session.outputWriter()) {
      lines.write(requests.replace("HELLO", "hello 1 127.0.0.1 - -").replace(';', '\n') + "\n");
    }

    assertTrue(session.waitFor(1, TimeUnit.MINUTES));
    String last = Files.readAllLines(answers).getLast();
    assertTrue(last.startsWith("error ") && last.contains(refusal), last);
    assertFalse(Files.exists(bench.log()), "perftest was started");
  }
}
