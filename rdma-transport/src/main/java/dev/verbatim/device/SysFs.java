package dev.verbatim.device;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** What the kernel tells of RDMA devices by files under {@code /sys/class/infiniband}. */
final class SysFs {
  private final Path root;

  SysFs(Path root) {
    this.root = root;
  }

  static SysFs system() {
    return new SysFs(Path.of("/sys/class/infiniband"));
  }

  /** NUMA node of a device, -1 where it has none, as all software devices. */
  int numaNode(String device) {
    try {
      return read(root.resolve(device).resolve("device/numa_node"))
          .map(Integer::parseInt)
          .orElse(-1);
    } catch (NumberFormatException e) {
      return -1;
    }
  }

  /** The GID with an index as {@code fe80:0000:...}, empty beyond the table or unreadable. */
  Optional<String> gid(String device, int port, int index) {
    return read(port(device, port).resolve("gids/" + index));
  }

  /** {@code IB/RoCE v1} or {@code RoCE v2}. */
  Optional<String> gidType(String device, int port, int index) {
    return read(port(device, port).resolve("gid_attrs/types/" + index));
  }

  Optional<String> gidNetdev(String device, int port, int index) {
    return read(port(device, port).resolve("gid_attrs/ndevs/" + index));
  }

  private Path port(String device, int port) {
    return root.resolve(device).resolve("ports").resolve(String.valueOf(port));
  }

  /** A file's text, trimmed; empty where it cannot be read, as attributes of unused GIDs. */
  static Optional<String> read(Path file) {
    try {
      return Optional.of(Files.readString(file).trim());
    } catch (IOException e) {
      return Optional.empty();
    }
  }
}
