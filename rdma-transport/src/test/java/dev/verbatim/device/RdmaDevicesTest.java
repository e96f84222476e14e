package dev.verbatim.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.verify;

import dev.verbatim.verbs.Errno;
import dev.verbatim.verbs.GidType;
import dev.verbatim.verbs.IbvContext;
import dev.verbatim.verbs.LinkLayer;
import dev.verbatim.verbs.LinkRate;
import dev.verbatim.verbs.NodeType;
import dev.verbatim.verbs.PortState;
import dev.verbatim.verbs.TransportType;
import dev.verbatim.verbs.VerbsException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RdmaDevicesTest {
  @TempDir Path sys;

  private FakeDevice device;

  @BeforeEach
  void plugIn() throws Exception {
    device = new FakeDevice("mlx5_0");
  }

  @AfterEach
  void unplug() {
    device.close();
  }

  private RdmaDevices devices(Map<Integer, String> netdevs, Map<String, List<String>> addresses) {
    HostNetwork network =
        new HostNetwork() {
          @Override
          public Optional<String> nameOf(int index) {
            return Optional.ofNullable(netdevs.get(index));
          }

          @Override
          public List<InetAddress> addressesOf(String name) {
            return addresses.getOrDefault(name, List.of()).stream()
                .map(RdmaDevicesTest::ip)
                .toList();
          }
        };
    return new RdmaDevices(device.verbs(), new SysFs(sys), network);
  }

  private static InetAddress ip(String text) {
    return InetAddress.ofLiteral(text);
  }

  @Test
  void shouldDescribeDeviceAndPortWhenListed() throws Exception {
    device.limits(16, 128, 65_536, 1L << 40);
    Files.createDirectories(sys.resolve("mlx5_0/device"));
    Files.writeString(sys.resolve("mlx5_0/device/numa_node"), "1\n");

    DeviceListing listing = devices(Map.of(), Map.of()).list();

    assertEquals(List.of(), listing.unusable());
    DeviceInfo info = listing.devices().getFirst();
    assertEquals("mlx5_0", info.name());
    assertEquals(NodeType.CA, info.nodeType());
    assertEquals(TransportType.IB, info.transportType());
    assertEquals(0x1122334455667788L, info.guid());
    assertEquals("16.35.2000", info.firmware());
    assertEquals(1, info.numaNode());
    assertEquals(4, info.completionVectors());
    assertEquals(16, info.limits().maxQpRdAtom());
    assertEquals(128, info.limits().maxQpInitRdAtom());
    assertEquals(65_536, info.limits().maxMr());
    assertEquals(1L << 40, info.limits().maxMrSize());
    PortInfo port = info.ports().getFirst();
    assertEquals(1, port.number());
    assertEquals(PortState.ACTIVE, port.state());
    assertTrue(port.active());
    assertEquals(new LinkRate("EDR", 4, 100), port.rate());
    assertEquals(4096, port.activeMtu());
    assertEquals(1L << 31, port.maxMessageSize(), "2 GiB is not negative");
    verify(device.verbs()).closeDevice(device.context());
    verify(device.verbs()).freeDeviceList(device.list());
  }

  @Test
  void shouldTellNumaNodeUnknownWhenDeviceHasNone() throws Exception {
    assertEquals(-1, devices(Map.of(), Map.of()).list().devices().getFirst().numaNode());
    Files.createDirectories(sys.resolve("mlx5_0/device"));
    Files.writeString(sys.resolve("mlx5_0/device/numa_node"), "-1\n");
    assertEquals(-1, devices(Map.of(), Map.of()).list().devices().getFirst().numaNode());
    Files.writeString(sys.resolve("mlx5_0/device/numa_node"), "nonsense");
    assertEquals(-1, devices(Map.of(), Map.of()).list().devices().getFirst().numaNode());
  }

  @Test
  void shouldOrderAndTypeGidsWhenTableIsScrambled() throws Exception {
    device.gid(5, 1, "::ffff:10.77.0.1", GidType.ROCE_V2, 3);
    device.gid(1, 1, "fe80::1", GidType.ROCE_V2, 3);
    device.gid(0, 1, "fe80::1", GidType.ROCE_V1, 3);
    device.gid(0, 2, "fe80::2", GidType.ROCE_V1, 4);
    device.gid(7, 1, "2001:db8::7", GidType.ROCE_V2, 9);
    device.gid(4, 1, "::ffff:10.77.0.1", GidType.ROCE_V1, 3);
    device.gid(9, 1, "2001:db8::9", GidType.ROCE_V2, 0);

    PortInfo port =
        devices(Map.of(3, "eth2"), Map.of("eth2", List.of("10.77.0.1", "fe80::1")))
            .describePort(device.context(), 1);

    assertEquals(List.of(0, 1, 4, 5, 7, 9), port.gids().stream().map(GidInfo::index).toList());
    assertEquals(PortInfo.Link.ROCE_V2, port.link());
    assertEquals(Optional.empty(), port.gids().get(0).address(), "link-local is not routable");
    GidInfo v1 = port.gids().get(2);
    assertEquals(GidType.ROCE_V1, v1.type());
    GidInfo v2 = port.gids().get(3);
    assertEquals(GidType.ROCE_V2, v2.type());
    assertEquals("::ffff:10.77.0.1", v2.gid());
    assertEquals(Optional.of(ip("10.77.0.1")), v2.address());
    assertEquals("eth2", v2.netdev());
    assertEquals(List.of(ip("10.77.0.1"), ip("fe80::1")), v2.netdevAddresses());
    assertEquals("", port.gids().get(4).netdev(), "an interface that has gone");
    assertEquals(Optional.of(ip("2001:db8::7")), port.gids().get(4).address());
    assertEquals(List.of(), port.gids().get(5).netdevAddresses(), "no interface at all");
  }

  @Test
  void shouldReadSysFsWhenLibraryHasNoGidTable() throws Exception {
    device.withoutGidTable(4);
    Path port = sys.resolve("mlx5_0/ports/1");
    for (String folder : List.of("gids", "gid_attrs/types", "gid_attrs/ndevs")) {
      Files.createDirectories(port.resolve(folder));
    }
    Files.writeString(port.resolve("gids/0"), "fe80:0000:0000:0000:0202:c9ff:fe00:0001\n");
    Files.writeString(port.resolve("gid_attrs/types/0"), "IB/RoCE v1\n");
    Files.writeString(port.resolve("gids/1"), "0000:0000:0000:0000:0000:0000:0000:0000\n");
    Files.writeString(port.resolve("gids/2"), "0000:0000:0000:0000:0000:ffff:0a4d:0001\n");
    Files.writeString(port.resolve("gid_attrs/types/2"), "RoCE v2\n");
    Files.writeString(port.resolve("gid_attrs/ndevs/2"), "d0\n");
    Files.writeString(port.resolve("gids/3"), "not a gid\n");

    PortInfo info =
        devices(Map.of(), Map.of("d0", List.of("10.77.0.1"))).describePort(device.context(), 1);

    assertEquals(2, info.gids().size());
    assertEquals(GidType.ROCE_V1, info.gids().get(0).type());
    assertEquals(2, info.gids().get(1).index());
    assertEquals(Optional.of(ip("10.77.0.1")), info.gids().get(1).address());
    assertEquals("d0", info.gids().get(1).netdev());
    assertEquals(List.of(ip("10.77.0.1")), info.gids().get(1).netdevAddresses());
  }

  @Test
  void shouldReadSysFsWhenGidTableIsLongerThanLibraryTakes() throws Exception {
    device.withoutGidTable(1);
    device.failGidTable(new VerbsException("ibv_query_gid_table", Errno.EINVAL, ""));
    Files.createDirectories(sys.resolve("mlx5_0/ports/1/gids"));
    Files.writeString(
        sys.resolve("mlx5_0/ports/1/gids/0"), "fe80:0000:0000:0000:0202:c9ff:fe00:0001\n");

    PortInfo info = devices(Map.of(), Map.of()).describePort(device.context(), 1);

    assertEquals("fe80:0:0:0:202:c9ff:fe00:1", info.gids().getFirst().gid());
    assertEquals(GidType.UNKNOWN, info.gids().getFirst().type());
  }

  @Test
  void shouldNameLinkWhenPortIsNotRoceV2() throws Exception {
    RdmaDevices devices = devices(Map.of(), Map.of());
    device.gid(0, 1, "fe80::1", GidType.ROCE_V1, 0);
    assertEquals(PortInfo.Link.ROCE_V1, devices.describePort(device.context(), 1).link());

    device.linkLayer(LinkLayer.INFINIBAND);
    assertEquals(PortInfo.Link.INFINIBAND, devices.describePort(device.context(), 1).link());

    device.linkLayer(LinkLayer.ETHERNET);
    device.transport(TransportType.IWARP);
    assertEquals(PortInfo.Link.IWARP, devices.describePort(device.context(), 1).link());

    device.transport(TransportType.UNSPECIFIED);
    assertEquals(PortInfo.Link.OTHER, devices.describePort(device.context(), 1).link());
  }

  @Test
  void shouldNotGiveInfinibandGidAnAddressWhenItIsGlobal() throws Exception {
    device.linkLayer(LinkLayer.INFINIBAND);
    device.gid(0, 1, "2001:db8::1", GidType.IB, 0);
    PortInfo port = devices(Map.of(), Map.of()).describePort(device.context(), 1);
    assertEquals(Optional.empty(), port.gids().getFirst().address());
  }

  @Test
  void shouldTolerateWhenPortReportsUnknownNumbers() throws Exception {
    device.state(77);
    device.linkLayer(9);
    PortInfo port = devices(Map.of(), Map.of()).describePort(device.context(), 1);
    assertEquals(PortState.UNKNOWN, port.state());
    assertFalse(port.active());
    assertEquals(PortInfo.Link.OTHER, port.link());
  }

  @Test
  void shouldTellReasonWhenDeviceCannotBeOpened() throws Exception {
    device.failOpen(new VerbsException("ibv_open_device", Errno.EACCES, "mlx5_0"));

    DeviceListing listing = devices(Map.of(), Map.of()).list();

    assertEquals(List.of(), listing.devices());
    DeviceListing.Unusable unusable = listing.unusable().getFirst();
    assertEquals("mlx5_0", unusable.name());
    assertEquals(
        "ibv_open_device(mlx5_0) failed: EACCES (errno 13)", unusable.reason().getMessage());
    verify(device.verbs()).freeDeviceList(device.list());
  }

  @Test
  void shouldNotAskDeviceWhenLibraryIsIncompatible() throws Exception {
    IbvContext.NUM_COMP_VECTORS.set(device.context(), -5);

    DeviceListing listing = devices(Map.of(), Map.of()).list();

    assertEquals(List.of(), listing.devices());
    assertEquals(List.of(), listing.unusable());
    assertTrue(listing.incompatible().getFirst().contains("num_comp_vectors is -5"));
    verify(device.verbs(), never()).queryPort(any(), anyInt(), any());
    verify(device.verbs()).closeDevice(device.context());
  }

  @Test
  void shouldCloseDeviceWhenItCannotBeAsked() throws Exception {
    device.failQuery(new VerbsException("ibv_query_device", Errno.EIO, ""));

    DeviceListing listing = devices(Map.of(), Map.of()).list();

    assertEquals(Errno.EIO, listing.unusable().getFirst().reason().errno());
    verify(device.verbs()).closeDevice(device.context());
  }
}
