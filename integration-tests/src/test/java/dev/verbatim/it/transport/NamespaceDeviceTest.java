package dev.verbatim.it.transport;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import dev.verbatim.it.machine.Command;
import dev.verbatim.it.machine.Iwarp;
import dev.verbatim.it.transport.PortControl.StandInFaults;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A process in another network namespace than the device's, as in most containers. */
class NamespaceDeviceTest extends DeviceTest {
  private static final String NAMESPACE = "container";

  @BeforeEach
  void needARealDevice() {
    assumeFalse(StandInFaults.present(), "the stand-in knows no namespaces");
  }

  @AfterEach
  void leaveNoNamespace() throws Exception {
    if (Command.run("ip", "netns", "list").contains(NAMESPACE)) {
      Command.run("ip", "netns", "delete", NAMESPACE);
      share("shared");
    }
  }

  /** The usual mode: such a process sees the device, but has none of its addresses. */
  @Test
  void shouldSayThatAContainerNeedsTheHostsNetworkWhenItSeesADeviceOfAnotherNamespace()
      throws Exception {
    Iwarp.assumeAbsent("no GID tells which addresses are the device's");
    String said = openInNamespace();

    assertTrue(said.startsWith("ADDRESS_NOT_RDMA: "), said);
    assertContains("another network namespace", said);
    assertContains("host's network", said);
    assertContains("macvlan", said);
    assertContains("SR-IOV", said);
  }

  @Test
  void shouldSayThatAContainerNeedsTheHostsNetworkWhenNamespacesShareNoDevices() throws Exception {
    share("exclusive");

    String said = openInNamespace();

    assertTrue(said.startsWith("NO_DEVICE: "), said);
    assertContains("host's network", said);
    assertContains("macvlan", said);
    assertContains("SR-IOV", said);
  }

  /** What a container has: an interface and an address of its own, on no RDMA device. */
  private static String openInNamespace() {
    Command.run("ip", "netns", "add", NAMESPACE);
    Command.run("ip", "-n", NAMESPACE, "link", "add", "eth0", "type", "dummy");
    Command.run("ip", "-n", NAMESPACE, "addr", "add", "10.99.0.1/24", "dev", "eth0");
    Command.run("ip", "-n", NAMESPACE, "link", "set", "eth0", "up");
    List<String> command = new ArrayList<>(List.of("ip", "netns", "exec", NAMESPACE));
    command.addAll(RegionServer.java(OpenAttempt.class, List.of()).command());
    return Command.run(command.toArray(String[]::new)).strip();
  }

  /** Refused until the kernel has cleared the last namespace away. */
  private static void share(String mode) throws Exception {
    Transports.await(
        "mode " + mode,
        () -> {
          try {
            Command.run("rdma", "system", "set", "netns", mode);
            return true;
          } catch (AssertionError e) {
            return false;
          }
        });
  }
}
