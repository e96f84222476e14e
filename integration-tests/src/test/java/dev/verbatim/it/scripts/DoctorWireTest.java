package dev.verbatim.it.scripts;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.verbatim.it.machine.RdmaLink;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code scripts/doctor --spark} on a standalone Spark with a Worker in each of two machines. */
@Tag("wire")
class DoctorWireTest {
  private static final String FIGURES =
      ": READ of 64 B [0-9.]+ us, of 1 MiB [0-9.]+ \\S+/s \\([0-9.]+ Gb/s\\);"
          + " UDP port 4791 passes";

  @TempDir private Path folder;

  private Script.Result doctor(String... options) throws Exception {
    String secret = "spark.authenticate.secret";
    List<String> settings =
        List.of(
            "spark.shuffle.manager dev.verbatim.shuffle.RdmaShuffleManager",
            "spark.authenticate true",
            secret + " " + System.getProperty(secret),
            "spark.executor.instances 2",
            "spark.executor.memory 600m",
            "spark.driver.memory 600m",
            "spark.driver.extraJavaOptions -XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
            "spark.executor.extraJavaOptions -XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
            "spark.ui.enabled false",
            // An emulated processor may stand still for seconds; that must not look like a fault.
            "spark.scheduler.maxRegisteredResourcesWaitingTime 600s",
            "spark.network.timeout 600s",
            "spark.executor.heartbeatInterval 30s",
            "spark.shuffle.rdma.connectTimeout 20s",
            "spark.shuffle.rdma.readTimeout 20s");
    Files.write(folder.resolve("spark-defaults.conf"), settings);
    Script doctor = new Script("doctor", folder).with("SPARK_CONF_DIR", folder);
    List<String> arguments =
        new ArrayList<>(List.of("--spark", System.getProperty("verbatim.it.master"), "--pairs"));
    arguments.addAll(List.of(options));
    Script.Result result = doctor.run(arguments.toArray(String[]::new));
    System.out.println(result.output());
    return result;
  }

  /** The line of the pair in which the executor on the one host READs from that on the other. */
  private static String pair(Script.Result result, int reader) {
    String pair =
        "\\s+\\S+\\s+pair\\s+\\d@soft-roce-%d reads from \\d@soft-roce-%d: .*"
            .formatted(reader, 3 - reader);
    List<String> lines = result.output().lines().filter(line -> line.matches(pair)).toList();
    assertEquals(1, lines.size(), () -> pair + " in\n" + result.output() + result.errors());
    return lines.getFirst();
  }

  @Test
  void shouldExamineBothHostsInOneTableAndReadBothWays() throws Exception {
    Script.Result result = doctor();

    result.exits(0).says("2 executors: UNKNOWN"); // an emulated processor has no governor
    for (String check : List.of("jdk", "port-state", "gid", "mtu", "open", "file-pin")) {
      assertTrue(result.output().contains("\n  %-14s      2\n".formatted(check)), check);
    }
    for (int reader = 1; reader <= 2; reader++) {
      String pair = pair(result, reader);
      assertTrue(pair.startsWith("  OK ") && pair.matches(".*" + FIGURES), pair);
    }
  }

  @Test
  void shouldBlameTheFirewallWhenOneHostDropsTheUdpPort() throws Exception {
    Script.Result result;
    RdmaLink.blockUdp(4791);
    try {
      result = doctor("--only", "open");
      assertTrue(RdmaLink.blocked() > 0, "packets must be dropped");
    } finally {
      RdmaLink.unblock();
    }

    result
        .exits(2)
        .says("2 executors: PROBLEM")
        .says("cure: allow UDP port 4791 both ways: security groups");
    for (int reader = 1; reader <= 2; reader++) {
      String pair = pair(result, reader);
      String peer = "10.77.0." + (3 - reader);
      String seen = peer + " answers by IP, so UDP port 4791 is blocked, or its port is not active";
      assertTrue(pair.startsWith("  PROBLEM ") && pair.contains(seen), pair);
    }
  }
}
