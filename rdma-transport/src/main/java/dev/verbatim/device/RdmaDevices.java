package dev.verbatim.device;

import dev.verbatim.verbs.Errno;
import dev.verbatim.verbs.GidType;
import dev.verbatim.verbs.IbvContext;
import dev.verbatim.verbs.IbvDevice;
import dev.verbatim.verbs.IbvDeviceAttr;
import dev.verbatim.verbs.IbvPortAttr;
import dev.verbatim.verbs.LibraryCheck;
import dev.verbatim.verbs.LinkLayer;
import dev.verbatim.verbs.LinkRate;
import dev.verbatim.verbs.Mtu;
import dev.verbatim.verbs.NodeType;
import dev.verbatim.verbs.PortState;
import dev.verbatim.verbs.TransportType;
import dev.verbatim.verbs.Verbs;
import dev.verbatim.verbs.VerbsConstants;
import dev.verbatim.verbs.VerbsException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Finds the machine's RDMA devices and describes them. */
public final class RdmaDevices {
  private final Verbs verbs;
  private final SysFs sysFs;
  private final GidTable gidTable;

  public RdmaDevices(Verbs verbs) {
    this(verbs, SysFs.system(), HostNetwork.system());
  }

  RdmaDevices(Verbs verbs, SysFs sysFs, HostNetwork network) {
    this.verbs = verbs;
    this.sysFs = sysFs;
    this.gidTable = new GidTable(verbs, sysFs, network);
  }

  /**
   * Opens each device for a moment, checks that the library's structs are those of this program,
   * and describes it. Empty where there is none, and where the kernel has no RDMA at all.
   *
   * @throws VerbsException where not even the list can be had, as EPERM
   */
  public DeviceListing list() throws VerbsException {
    try {
      return listOpened();
    } catch (VerbsException e) {
      if (e.errno() == Errno.ENOSYS) {
        return new DeviceListing(List.of(), List.of());
      }
      throw e;
    }
  }

  private DeviceListing listOpened() throws VerbsException {
    List<DeviceInfo> devices = new ArrayList<>();
    List<DeviceListing.Unusable> unusable = new ArrayList<>();
    List<String> incompatible = new ArrayList<>();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment count = arena.allocate(ValueLayout.JAVA_INT);
      MemorySegment list = verbs.getDeviceList(count);
      try {
        for (int i = 0; i < count.get(ValueLayout.JAVA_INT, 0); i++) {
          MemorySegment device = list.getAtIndex(ValueLayout.ADDRESS, i);
          try {
            openAndDescribe(device, devices, incompatible);
          } catch (VerbsException e) {
            unusable.add(new DeviceListing.Unusable(verbs.getDeviceName(device), e));
          }
        }
      } finally {
        verbs.freeDeviceList(list);
      }
    }
    return new DeviceListing(devices, unusable, incompatible);
  }

  private void openAndDescribe(
      MemorySegment device, List<DeviceInfo> devices, List<String> incompatible)
      throws VerbsException {
    MemorySegment context = verbs.openDevice(device);
    try {
      Optional<String> problem = LibraryCheck.problem(verbs, device, context);
      if (problem.isPresent()) {
        incompatible.add(problem.get());
      } else {
        devices.add(describe(context));
      }
    } finally {
      verbs.closeDevice(context);
    }
  }

  /** Describes a device that is open. */
  public DeviceInfo describe(MemorySegment context) throws VerbsException {
    MemorySegment device = IbvDevice.STRUCT.at(IbvContext.DEVICE.get(context));
    String name = verbs.getDeviceName(device);
    TransportType transport = TransportType.of(IbvDevice.TRANSPORT_TYPE.get(device));
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment attr = IbvDeviceAttr.STRUCT.allocate(arena);
      verbs.queryDevice(context, attr);
      List<PortInfo> ports = new ArrayList<>();
      for (int port = 1; port <= IbvDeviceAttr.PHYS_PORT_CNT.get(attr); port++) {
        ports.add(describePort(context, name, transport, port));
      }
      return new DeviceInfo(
          name,
          NodeType.of(IbvDevice.NODE_TYPE.get(device)),
          transport,
          verbs.getDeviceGuid(device),
          IbvDeviceAttr.VENDOR_ID.get(attr),
          IbvDeviceAttr.FW_VER.text(attr),
          sysFs.numaNode(name),
          IbvContext.NUM_COMP_VECTORS.get(context),
          limits(attr),
          ports);
    }
  }

  /** Describes one port of a device that is open, as it is now. */
  public PortInfo describePort(MemorySegment context, int port) throws VerbsException {
    MemorySegment device = IbvDevice.STRUCT.at(IbvContext.DEVICE.get(context));
    TransportType transport = TransportType.of(IbvDevice.TRANSPORT_TYPE.get(device));
    return describePort(context, verbs.getDeviceName(device), transport, port);
  }

  private PortInfo describePort(
      MemorySegment context, String device, TransportType transport, int port)
      throws VerbsException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment attr = IbvPortAttr.allocate(arena);
      verbs.queryPort(context, port, attr);
      LinkLayer linkLayer = LinkLayer.of(IbvPortAttr.LINK_LAYER.get(attr));
      List<GidInfo> gids =
          gidTable.read(context, device, port, IbvPortAttr.GID_TBL_LEN.get(attr), linkLayer);
      return new PortInfo(
          port,
          PortState.of(IbvPortAttr.STATE.get(attr)),
          link(transport, linkLayer, gids),
          LinkRate.of(IbvPortAttr.speed(attr), IbvPortAttr.ACTIVE_WIDTH.get(attr)),
          Mtu.of(IbvPortAttr.ACTIVE_MTU.get(attr)).bytes(),
          Mtu.of(IbvPortAttr.MAX_MTU.get(attr)).bytes(),
          Integer.toUnsignedLong(IbvPortAttr.MAX_MSG_SZ.get(attr)),
          IbvPortAttr.LID.get(attr),
          gids);
    }
  }

  private static PortInfo.Link link(
      TransportType transport, LinkLayer linkLayer, List<GidInfo> gids) {
    return switch (transport) {
      case IWARP -> PortInfo.Link.IWARP;
      case IB ->
          switch (linkLayer) {
            // Drivers older than the link layer leave it open, and know InfiniBand only.
            case INFINIBAND, UNSPECIFIED -> PortInfo.Link.INFINIBAND;
            case ETHERNET ->
                gids.stream().anyMatch(gid -> gid.type() == GidType.ROCE_V2)
                    ? PortInfo.Link.ROCE_V2
                    : PortInfo.Link.ROCE_V1;
            case UNKNOWN -> PortInfo.Link.OTHER;
          };
      case USNIC, USNIC_UDP, UNSPECIFIED, UNKNOWN -> PortInfo.Link.OTHER;
    };
  }

  private static DeviceLimits limits(MemorySegment attr) {
    return new DeviceLimits(
        IbvDeviceAttr.MAX_QP.get(attr),
        IbvDeviceAttr.MAX_QP_WR.get(attr),
        IbvDeviceAttr.MAX_SGE.get(attr),
        IbvDeviceAttr.MAX_SGE_RD.get(attr),
        IbvDeviceAttr.MAX_CQ.get(attr),
        IbvDeviceAttr.MAX_CQE.get(attr),
        IbvDeviceAttr.MAX_MR.get(attr),
        IbvDeviceAttr.MAX_MR_SIZE.get(attr),
        IbvDeviceAttr.MAX_PD.get(attr),
        IbvDeviceAttr.MAX_QP_RD_ATOM.get(attr),
        IbvDeviceAttr.MAX_QP_INIT_RD_ATOM.get(attr),
        IbvDeviceAttr.MAX_RES_RD_ATOM.get(attr),
        IbvDeviceAttr.ATOMIC_CAP.get(attr) != VerbsConstants.IBV_ATOMIC_NONE);
  }
}
