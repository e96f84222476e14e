package dev.verbatim.it.scripts;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.verbatim.it.machine.Command;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code scripts/roce-qos} on the guest's real RDMA port and RDMA CM. The interface under Soft-RoCE
 * has no DCB, so that dcb is a stand-in; that the real one is refused is seen first.
 */
@Tag("guest")
class SoftRoceQosTest {
  private static final Path CONFIG = Path.of("/sys/kernel/config");
  private static final Path DEVICE = CONFIG.resolve("rdma_cm/rxe0");

  @TempDir private Path folder;

  @Test
  void shouldSetRdmaCmsTrafficClassAndPutItBackWhenAppliedAndUndone() throws Exception {
    if (!Files.exists(CONFIG.resolve("rdma_cm"))) {
      Command.run("mount", "-t", "configfs", "none", CONFIG.toString());
    }
    new Script("roce-qos", folder)
        .run("status", "d0")
        .exits(1)
        .says("dcb cannot read d0: ", "Operation not supported");
    Path settings = Files.createDirectories(folder.resolve("settings"));
    Files.writeString(settings.resolve("pfc"), "0 0 0 0 0 0 0 0\n");
    Files.writeString(settings.resolve("dscp"), "");
    Script qos =
        new Script("roce-qos", folder)
            .with("STAND_IN_STATE", settings)
            .with("STAND_IN_LOG", folder.resolve("log"))
            .withProgram(Script.resource("qos/dcb"), "dcb");
    String before = trafficClass();

    qos.run("set", "d0", "--state", "state", "--apply").exits(0).says("trafficClass 106");
    assertEquals("106", trafficClass());
    qos.run("status", "d0").exits(0).says("rxe0/1:106", "fits");
    qos.run("undo", "d0", "--state", "state", "--apply").exits(0).says("as it was before");
    assertEquals(before, trafficClass());
  }

  private static String trafficClass() throws Exception {
    Files.createDirectories(DEVICE);
    return Files.readString(DEVICE.resolve("ports/1/default_roce_tos")).strip();
  }
}
