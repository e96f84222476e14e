package dev.verbatim.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.verbatim.device.DeviceListing;
import java.util.List;
import org.junit.jupiter.api.Test;

class IncompatibleLibraryTest {

  @Test
  void shouldRefuseWholeLibraryWhenCheckOfOneDeviceFails() {
    DeviceListing listing =
        new DeviceListing(List.of(), List.of(), List.of("ibv_context.ops lacks a function"));

    OpenResult.Unavailable answer =
        new PortSelector(new TransportConfig(), listing).obstacle().orElseThrow();

    assertEquals(UnavailableReason.INCOMPATIBLE_LIBRARY, answer.reason());
    assertTrue(answer.seen().contains("lacks a function"), answer.seen());
    assertTrue(answer.remedy().contains("rdma-core"), answer.remedy());
  }
}
