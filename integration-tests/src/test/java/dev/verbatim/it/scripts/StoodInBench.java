package dev.verbatim.it.scripts;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * {@code scripts/rdma-bench} on a machine without a device: both sides run for real and talk over
 * TCP; sysfs is a folder, and perftest is a stand-in that answers with what the real programs
 * printed on Soft-RoCE.
 */
final class StoodInBench {
  private static final String V1 = "IB/RoCE v1";
  static final String V2 = "RoCE v2";
  private static final String LINK_LOCAL = "fe80:0000:0000:0000:5054:00ff:fe77:0001";
  private static final String LOOPBACK = "0000:0000:0000:0000:0000:ffff:7f00:0001";
  static final String OTHER = "0000:0000:0000:0000:0000:ffff:0a00:0007";
  static final String ACTIVE = "4: ACTIVE";

  private final Path folder;
  private final SysTree sys;
  private final Path log;
  private final int port = freePort();

  /** Two active ports, of which the second one has the loopback address. */
  StoodInBench(Path folder) throws IOException {
    this.folder = folder;
    sys =
        new SysTree(folder.resolve("sys"))
            .rocePort("mlx5_0", 1, ACTIVE, V1, LINK_LOCAL, V2, LINK_LOCAL, V1, OTHER, V2, OTHER)
            .rocePort(
                "mlx5_1", 1, ACTIVE, V1, LINK_LOCAL, V2, LINK_LOCAL, V1, LOOPBACK, V2, LOOPBACK);
    log = folder.resolve("perftest.log");
  }

  /**
   * One that is free, and so are those after it, perftest's; below those that the kernel gives to
   * clients.
   */
  private static int freePort() {
    for (int first = ThreadLocalRandom.current().nextInt(12_000, 28_000);
        ;
        first = first % 28_000 + 40) {
      if (IntStream.range(first, first + 33).allMatch(StoodInBench::isFree)) {
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

  SysTree sys() {
    return sys;
  }

  /** What perftest was called with, by both sides. */
  Path log() {
    return log;
  }

  int port() {
    return port;
  }

  Script script() throws IOException {
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

  String[] arguments(String... more) {
    return Stream.concat(
            Stream.of("run", "127.0.0.1", "--control-port", "" + port, "--history", "history"),
            Stream.of(more))
        .toArray(String[]::new);
  }

  /** One run against a side that serves, which ends after it. */
  Script.Result measure(Script client, String... options) throws Exception {
    Path served = folder.resolve("served.log");
    Process server =
        script()
            .start(served, "serve", "--once", "--control-port", "" + port, "--listen", "127.0.0.1");
    try {
      awaitText(served, "waiting at port");
      // socat listens a moment after that line.
      TimeUnit.MILLISECONDS.sleep(500);
      return client.run(arguments(options));
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
}
