package dev.verbatim.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.verbatim.device.DeviceInfo;
import dev.verbatim.device.DeviceLimits;
import dev.verbatim.device.DeviceListing;
import dev.verbatim.device.GidInfo;
import dev.verbatim.device.PortInfo;
import dev.verbatim.verbs.Errno;
import dev.verbatim.verbs.GidType;
import dev.verbatim.verbs.LinkRate;
import dev.verbatim.verbs.NodeType;
import dev.verbatim.verbs.PortState;
import dev.verbatim.verbs.TransportType;
import dev.verbatim.verbs.VerbsException;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PortSelectorTest {
  private static final InetAddress FAST = InetAddress.ofLiteral("10.1.0.1");
  private static final InetAddress SLOW = InetAddress.ofLiteral("10.2.0.1");
  private static final InetAddress MANAGEMENT = InetAddress.ofLiteral("192.168.0.1");
  private static final InetAddress V6 = InetAddress.ofLiteral("2001:db8::1");
  private static final InetAddress LINK_LOCAL = InetAddress.ofLiteral("fe80::1");

  private static GidInfo gid(int index, GidType type, InetAddress address) {
    boolean linkLocal = address.isLinkLocalAddress();
    return new GidInfo(
        index,
        address.getHostAddress(),
        type,
        linkLocal ? Optional.empty() : Optional.of(address),
        "eth0",
        List.of(address));
  }

  private static PortInfo port(int number, PortState state, int speed, GidInfo... gids) {
    return new PortInfo(
        number,
        state,
        PortInfo.Link.ROCE_V2,
        LinkRate.of(speed, 2),
        4096,
        4096,
        1 << 30,
        0,
        List.of(gids));
  }

  private static DeviceInfo device(String name, PortInfo... ports) {
    DeviceLimits limits = new DeviceLimits(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, false);
    return new DeviceInfo(
        name, NodeType.CA, TransportType.IB, 0, 0, "", -1, 1, limits, List.of(ports));
  }

  private static final DeviceInfo A =
      device(
          "mlx5_0",
          port(1, PortState.ACTIVE, 16, gid(0, GidType.ROCE_V2, SLOW)),
          port(2, PortState.DOWN, 16));
  private static final DeviceInfo B =
      device("mlx5_1", port(1, PortState.ACTIVE, 64, gid(3, GidType.ROCE_V2, FAST)));

  private static PortSelector selector(TransportConfig config, DeviceInfo... devices) {
    return new PortSelector(config, new DeviceListing(List.of(devices), List.of()));
  }

  private static PortSelector.Binding binding(InetAddress address, String device, int port) {
    return new PortSelector.Binding(address, device, port);
  }

  private static final List<PortSelector.Binding> BOTH =
      List.of(binding(SLOW, "mlx5_0", 1), binding(FAST, "mlx5_1", 1));

  @Test
  void shouldPreferTheFasterActivePort() {
    PortSelector.Choice choice = selector(new TransportConfig(), A, B).choose(BOTH).orElseThrow();
    assertEquals("mlx5_1", choice.device().name());
    assertEquals(FAST, choice.address());
    assertEquals(3, choice.gid().orElseThrow().index());
  }

  @Test
  void shouldTakeTheDeviceThatIsNamed() {
    PortSelector selector = selector(new TransportConfig().deviceName("mlx5_0"), A, B);
    assertEquals(SLOW, selector.choose(BOTH).orElseThrow().address());
  }

  /** Whatever the order of the table: version 2, our own address, IPv4, not the link-local one. */
  @Test
  void shouldFindTheGidInAScrambledTable() {
    List<GidInfo> gids =
        new ArrayList<>(
            List.of(
                gid(0, GidType.ROCE_V1, LINK_LOCAL),
                gid(1, GidType.ROCE_V2, LINK_LOCAL),
                gid(2, GidType.ROCE_V1, FAST),
                gid(5, GidType.ROCE_V2, FAST),
                gid(6, GidType.ROCE_V1, V6),
                gid(9, GidType.ROCE_V2, V6)));
    List<PortSelector.Binding> bindings =
        new ArrayList<>(
            List.of(
                binding(LINK_LOCAL, "mlx5_0", 1),
                binding(V6, "mlx5_0", 1),
                binding(FAST, "mlx5_0", 1)));
    Random random = new Random(5);
    for (int i = 0; i < 100; i++) {
      Collections.shuffle(gids, random);
      Collections.shuffle(bindings, random);
      DeviceInfo device =
          device("mlx5_0", port(1, PortState.ACTIVE, 16, gids.toArray(GidInfo[]::new)));
      PortSelector.Choice choice =
          selector(new TransportConfig(), device).choose(bindings).orElseThrow();
      assertEquals(FAST, choice.address());
      assertEquals(5, choice.gid().orElseThrow().index());
    }
  }

  @Test
  void shouldSayWhatExistsWhenTheNamedDeviceOrPortDoesNot() {
    OpenResult.Unavailable none =
        selector(new TransportConfig().deviceName("mlx5_9"), A, B).obstacle().orElseThrow();
    assertEquals(UnavailableReason.NO_DEVICE, none.reason());
    assertTrue(none.seen().contains("mlx5_9"), none.seen());
    assertTrue(none.seen().contains("mlx5_0 port 1 (ACTIVE, RoCE v2"), none.seen());
    assertTrue(none.seen().contains("10.1.0.1"), none.seen());
    assertEquals(
        UnavailableReason.NO_DEVICE,
        selector(new TransportConfig().port(3), A, B).obstacle().orElseThrow().reason());
  }

  @Test
  void shouldSayThatNoPortIsActive() {
    OpenResult.Unavailable none =
        selector(new TransportConfig().deviceName("mlx5_0").port(2), A, B).obstacle().orElseThrow();
    assertEquals(UnavailableReason.PORT_NOT_ACTIVE, none.reason());
    assertTrue(none.seen().contains("mlx5_0 port 2 (DOWN"), none.seen());
  }

  @Test
  void shouldSayThatTheAddressesBelongToNoDevice() {
    PortSelector selector = selector(new TransportConfig(), A, B);
    assertTrue(selector.choose(List.of()).isEmpty());
    OpenResult.Unavailable none = selector.noChoice(List.of(), List.of(MANAGEMENT), List.of());
    assertEquals(UnavailableReason.ADDRESS_NOT_RDMA, none.reason());
    assertTrue(none.seen().contains("192.168.0.1"), none.seen());
    assertTrue(none.seen().contains("mlx5_1 port 1"), none.seen());
    assertFalse(none.seen().contains("namespace"), none.seen());
  }

  @Test
  void shouldSayWhatAContainerNeedsWhenNoInterfaceHasThePortsAddresses() {
    GidInfo foreign =
        new GidInfo(1, "::ffff:10.1.0.1", GidType.ROCE_V2, Optional.of(FAST), "", List.of());
    // A link-local GID stands for no address, and one interface may have the other's number.
    GidInfo linkLocal = gid(0, GidType.ROCE_V2, LINK_LOCAL);
    GidInfo mistaken =
        new GidInfo(
            2, V6.getHostAddress(), GidType.ROCE_V2, Optional.of(V6), "eth0", List.of(MANAGEMENT));
    DeviceInfo device =
        device("mlx5_0", port(1, PortState.ACTIVE, 16, linkLocal, foreign, mistaken));

    OpenResult.Unavailable none =
        selector(new TransportConfig(), device).noChoice(List.of(), List.of(MANAGEMENT), List.of());
    assertEquals(UnavailableReason.ADDRESS_NOT_RDMA, none.reason());
    assertTrue(none.seen().contains("another network namespace"), none.seen());
    assertTrue(none.remedy().contains("host's network"), none.remedy());
    assertTrue(none.remedy().contains("macvlan"), none.remedy());
    assertTrue(none.remedy().contains("SR-IOV"), none.remedy());
  }

  /** Errors that speak of the address do not hide one that speaks of something else. */
  @ParameterizedTest
  @CsvSource({
    "19, ADDRESS_NOT_RDMA, ENODEV, name the address",
    "99, ADDRESS_NOT_RDMA, EADDRNOTAVAIL, name",
    "22, ADDRESS_NOT_RDMA, EINVAL, name",
    "12, DEVICE_ERROR, ENOMEM, dmesg",
    "24, DEVICE_ERROR, EMFILE, LimitNOFILE",
    "23, DEVICE_ERROR, ENFILE, fs.file-max"
  })
  void shouldSayWhyNoAddressCouldBeBound(
      int errno, UnavailableReason reason, String name, String remedy) {
    PortSelector selector = selector(new TransportConfig(), A, B);
    OpenResult.Unavailable none =
        selector.noChoice(
            List.of(),
            List.of(LINK_LOCAL, MANAGEMENT),
            List.of(
                new PortSelector.NotBound(LINK_LOCAL, bindFailure(Errno.EINVAL)),
                new PortSelector.NotBound(MANAGEMENT, bindFailure(errno))));
    assertEquals(reason, none.reason());
    assertTrue(none.seen().contains("192.168.0.1"), none.seen());
    assertTrue(none.seen().contains(name), none.seen());
    assertTrue(none.remedy().contains(remedy), none.remedy());
  }

  private static VerbsException bindFailure(int errno) {
    return new VerbsException("rdma_bind_addr", errno, "");
  }

  @Test
  void shouldTellApartNoDeviceAndNoPermission() {
    assertEquals(
        UnavailableReason.NO_PERMISSION,
        obstacle(new TransportConfig(), List.of(), Errno.EACCES).reason());
    assertEquals(
        UnavailableReason.NO_DEVICE,
        selector(new TransportConfig()).obstacle().orElseThrow().reason());
  }

  /** Another device that works must not hide why the wanted one does not. */
  @Test
  void shouldTellTheErrorOfTheDeviceThatIsWanted() {
    OpenResult.Unavailable alone = obstacle(new TransportConfig(), List.of(), Errno.EMFILE);
    assertEquals(UnavailableReason.DEVICE_ERROR, alone.reason());
    assertTrue(alone.seen().contains("mlx5_7: ibv_open_device"), alone.seen());
    assertTrue(alone.seen().contains("EMFILE"), alone.seen());
    OpenResult.Unavailable named =
        obstacle(new TransportConfig().deviceName("mlx5_7"), List.of(A), Errno.EIO);
    assertEquals(UnavailableReason.DEVICE_ERROR, named.reason());
    assertTrue(named.seen().contains("EIO"), named.seen());
    OpenResult.Unavailable other =
        obstacle(new TransportConfig().deviceName("mlx5_9"), List.of(A), Errno.EIO);
    assertEquals(UnavailableReason.NO_DEVICE, other.reason());
    assertTrue(other.seen().contains("unusable: mlx5_7"), other.seen());
  }

  private static OpenResult.Unavailable obstacle(
      TransportConfig config, List<DeviceInfo> devices, int errno) {
    VerbsException failure = new VerbsException("ibv_open_device", errno, "");
    DeviceListing listing =
        new DeviceListing(devices, List.of(new DeviceListing.Unusable("mlx5_7", failure)));
    return new PortSelector(config, listing).obstacle().orElseThrow();
  }
}
