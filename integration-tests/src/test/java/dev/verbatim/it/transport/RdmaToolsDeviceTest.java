package dev.verbatim.it.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.verbatim.examples.rdma.RdmaBandwidth;
import dev.verbatim.examples.rdma.RdmaPingPong;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The example tools, each between two processes. */
class RdmaToolsDeviceTest extends DeviceTest {
  private static final Pattern LISTENING = Pattern.compile("Listening at (\\S+) port (\\d+) .*");

  private final List<Process> started = new ArrayList<>();

  @TempDir private Path folder;

  @AfterEach
  void endProcesses() throws InterruptedException {
    for (Process process : started) {
      process.destroyForcibly().waitFor();
    }
  }

  @Test
  void shouldMeasureLatencyOfEachSize() throws Exception {
    String[] server = serve(RdmaPingPong.class);
    for (String operation : List.of("PING_PONG", "READ")) {
      Path json = folder.resolve(operation + ".json");
      String table =
          measure(
              RdmaPingPong.class,
              server[0],
              "--port",
              server[1],
              "--operation",
              operation,
              "--sizes",
              "2,4K",
              "--iterations",
              "50",
              "--warm-up",
              "5",
              "--json",
              json.toString());
      assertContains("#bytes", table);
      assertContains("t_typical[usec]", table);
      assertTrue(table.lines().anyMatch(line -> line.trim().startsWith("4096 ")), table);
      assertResults(json, operation, 1, 1, 2, 4096);
    }
  }

  @Test
  void shouldMeasureBandwidthOverSeveralQueuePairs() throws Exception {
    String[] server = serve(RdmaBandwidth.class, "--queue-pairs", "2", "--depth", "8");
    for (String operation : List.of("READ", "WRITE", "SEND")) {
      Path json = folder.resolve(operation + ".json");
      String table =
          measure(
              RdmaBandwidth.class,
              server[0],
              "-p",
              server[1],
              "-o",
              operation,
              "-s",
              "1000,64K",
              "-n",
              "60",
              "-q",
              "2",
              "-t",
              "8",
              "--numa-node",
              "0",
              "--json",
              json.toString());
      assertContains("BW average[MB/sec]", table);
      assertResults(json, operation, 2, 8, 1000, 65_536);
    }
    String timed =
        measure(RdmaBandwidth.class, server[0], "-p", server[1], "-s", "8", "-D", "0.2", "-t", "4");
    assertContains("READ from", timed);
  }

  @Test
  void shouldSayInOneMessageWhyItFails() throws Exception {
    String[] server = serve(RdmaPingPong.class);
    String nobody = String.valueOf(Integer.parseInt(server[1]) + 1);
    Process failed = client(server[0], "--port", nobody);
    assertContains("no connection from", said(failed));
    assertEquals(1, failed.exitValue());
    Process wrong = client(server[0], "--sizes", "8,3G");
    assertContains("bytes = 3221225472 is out of range", said(wrong));
    assertEquals(2, wrong.exitValue());
  }

  private Process client(String... arguments) throws IOException {
    Process process =
        RegionServer.java(RdmaPingPong.class, List.of(arguments)).redirectErrorStream(true).start();
    started.add(process);
    return process;
  }

  private static String said(Process process) throws Exception {
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertTrue(process.waitFor(120, TimeUnit.SECONDS), "the client ends");
    assertFalse(output.contains("\tat "), output);
    return output;
  }

  private static void assertResults(
      Path json, String operation, int queuePairs, int depth, long... sizes) throws IOException {
    JsonNode root = new ObjectMapper().readTree(json.toFile());
    assertTrue(!root.get("device").asText().isEmpty(), root.toString());
    JsonNode results = root.get("results");
    assertEquals(sizes.length, results.size());
    for (int i = 0; i < sizes.length; i++) {
      JsonNode result = results.get(i);
      assertEquals(operation, result.get("operation").asText());
      assertEquals(sizes[i], result.get("bytes").asLong());
      assertEquals(queuePairs, result.get("queuePairs").asInt());
      assertEquals(depth, result.get("depth").asInt());
      assertTrue(result.get("messages").asLong() >= 50, result.toString());
      assertTrue(result.get("medianNanos").asLong() > 0, result.toString());
      assertTrue(result.get("megabytesPerSecond").asDouble() > 0, result.toString());
    }
  }

  /** Starts a tool as server and answers its address and port. */
  private String[] serve(Class<?> tool, String... options) throws Exception {
    List<String> arguments = new ArrayList<>(List.of("--port", "0"));
    arguments.addAll(List.of(options));
    Process process = RegionServer.java(tool, arguments).start();
    started.add(process);
    BufferedReader output = process.inputReader();
    for (String line = output.readLine(); line != null; line = output.readLine()) {
      Matcher listening = LISTENING.matcher(line);
      if (listening.matches()) {
        return new String[] {listening.group(1), listening.group(2)};
      }
    }
    throw new AssertionError("the server has ended with " + process.waitFor());
  }

  /** Runs a tool as client and answers what it prints. */
  private String measure(Class<?> tool, String... arguments) throws Exception {
    Process process = RegionServer.java(tool, List.of(arguments)).start();
    started.add(process);
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertTrue(process.waitFor(120, TimeUnit.SECONDS), "the client ends");
    assertEquals(0, process.exitValue(), output);
    return output;
  }
}
