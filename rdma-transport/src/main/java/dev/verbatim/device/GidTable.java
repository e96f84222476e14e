package dev.verbatim.device;

import dev.verbatim.verbs.Errno;
import dev.verbatim.verbs.GidType;
import dev.verbatim.verbs.IbvGidEntry;
import dev.verbatim.verbs.LinkLayer;
import dev.verbatim.verbs.Verbs;
import dev.verbatim.verbs.VerbsException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;

/** Reads a port's GID table: by the library where it can, else by sysfs. */
final class GidTable {
  /** Entries of all ports that are asked for: the kernel takes less than 64 KiB of them. */
  private static final int MAX_ENTRIES = 2047;

  private final Verbs verbs;
  private final SysFs sysFs;
  private final HostNetwork network;

  GidTable(Verbs verbs, SysFs sysFs, HostNetwork network) {
    this.verbs = verbs;
    this.sysFs = sysFs;
    this.network = network;
  }

  /** The valid entries of a port, by index. */
  List<GidInfo> read(
      MemorySegment context, String device, int port, int tableLength, LinkLayer linkLayer)
      throws VerbsException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment entries = IbvGidEntry.STRUCT.allocate(arena, MAX_ENTRIES);
      long count = count(context, entries);
      return count < 0
          ? fromSysFs(device, port, tableLength, linkLayer)
          : fromLibrary(entries, count, port);
    }
  }

  /** Number of entries filled, negative where the library cannot tell. */
  private long count(MemorySegment context, MemorySegment entries) throws VerbsException {
    try {
      return verbs.queryGidTable(context, entries, MAX_ENTRIES);
    } catch (VerbsException e) {
      // EINVAL: more valid entries than were asked for.
      if (e.errno() == Errno.EINVAL) {
        return -1;
      }
      throw e;
    }
  }

  private List<GidInfo> fromLibrary(MemorySegment entries, long count, int port) {
    List<GidInfo> gids = new ArrayList<>();
    for (long i = 0; i < count; i++) {
      if (IbvGidEntry.PORT_NUM.get(entries, i) != port) {
        continue;
      }
      int interfaceIndex = IbvGidEntry.NDEV_IFINDEX.get(entries, i);
      String netdev = interfaceIndex == 0 ? "" : network.nameOf(interfaceIndex).orElse("");
      gids.add(
          GidInfo.of(
              IbvGidEntry.GID_INDEX.get(entries, i),
              IbvGidEntry.GID.bytes(entries, i),
              GidType.of(IbvGidEntry.GID_TYPE.get(entries, i)),
              netdev,
              addresses(netdev)));
    }
    gids.sort(Comparator.comparingInt(GidInfo::index));
    return gids;
  }

  private List<GidInfo> fromSysFs(String device, int port, int tableLength, LinkLayer linkLayer) {
    List<GidInfo> gids = new ArrayList<>();
    for (int i = 0; i < tableLength; i++) {
      Optional<byte[]> raw = sysFs.gid(device, port, i).flatMap(GidTable::parse);
      if (raw.isEmpty()) {
        continue;
      }
      String netdev = sysFs.gidNetdev(device, port, i).orElse("");
      GidType type = type(sysFs.gidType(device, port, i).orElse(""), linkLayer);
      gids.add(GidInfo.of(i, raw.get(), type, netdev, addresses(netdev)));
    }
    return gids;
  }

  private List<InetAddress> addresses(String netdev) {
    return netdev.isEmpty() ? List.of() : network.addressesOf(netdev);
  }

  private static GidType type(String text, LinkLayer linkLayer) {
    return switch (text) {
      case "RoCE v2" -> GidType.ROCE_V2;
      case "IB/RoCE v1" -> linkLayer == LinkLayer.ETHERNET ? GidType.ROCE_V1 : GidType.IB;
      default -> linkLayer == LinkLayer.ETHERNET ? GidType.UNKNOWN : GidType.IB;
    };
  }

  /** The bytes of {@code fe80:0000:...}; empty for an unused entry, which is all zeros. */
  private static Optional<byte[]> parse(String text) {
    try {
      byte[] raw = HexFormat.of().parseHex(text.replace(":", ""));
      boolean zero = true;
      for (byte b : raw) {
        zero &= b == 0;
      }
      return raw.length != 16 || zero ? Optional.empty() : Optional.of(raw);
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }
}
