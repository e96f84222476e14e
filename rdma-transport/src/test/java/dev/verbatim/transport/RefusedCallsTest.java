package dev.verbatim.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.Mockito.doThrow;

import dev.verbatim.verbs.Errno;
import dev.verbatim.verbs.VerbsException;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What the system refuses and RDMA can do without: an operator is told of it, once. */
class RefusedCallsTest {
  private interface Body {
    void run() throws Exception;
  }

  private static List<String> warnings(Body body) throws Exception {
    PrintStream before = System.err;
    ByteArrayOutputStream log = new ByteArrayOutputStream();
    System.setErr(new PrintStream(log, true, StandardCharsets.UTF_8));
    try {
      body.run();
    } finally {
      System.setErr(before);
    }
    return log.toString(StandardCharsets.UTF_8)
        .lines()
        .filter(line -> line.contains("WARN"))
        .toList();
  }

  private static void assertTold(String line, String... parts) {
    for (String part : parts) {
      assertTrue(line.contains(part), line);
    }
  }

  @Test
  void shouldSayOnceThatOptionsAreNotInForce() throws Exception {
    Fabric fabric = new Fabric(new TransportConfig().trafficClass(104).qpsPerPeer(2));
    doThrow(new VerbsException("rdma_set_option", Errno.ENOSYS, ""))
        .when(fabric.rdmaCm)
        .setOption(any(), anyInt(), anyInt(), any(), anyLong());

    List<String> warnings = warnings(() -> assertNotNull(fabric.connected()));

    assertEquals(2, warnings.size(), warnings::toString);
    assertTold(warnings.getFirst(), "trafficClass=104", "ENOSYS", "cma_roce_tos");
    assertTold(warnings.getLast(), "ACK timeout", "ENOSYS", "rdma-core");
  }

  @Test
  void shouldSayOnceThatThePortCannotBeAsked() throws Exception {
    Fabric fabric = new Fabric(new TransportConfig());
    doThrow(new VerbsException("ibv_query_port", Errno.EIO, "port=1"))
        .when(fabric.verbs)
        .queryPort(any(), anyInt(), any());

    List<String> warnings =
        warnings(
            () -> {
              assertFalse(fabric.monitor.reachesPeers());
              assertFalse(fabric.monitor.reachesPeers());
            });

    assertEquals(1, warnings.size(), warnings::toString);
    assertTold(warnings.getFirst(), "port 1", "ibv_query_port", "EIO", "kernel's log");
  }
}
