package dev.verbatim.it.scripts;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A folder in the form of {@code /sys}, for devices that this machine does not have. */
final class SysTree {
  private final Path root;

  SysTree(Path root) {
    this.root = root;
  }

  Path root() {
    return root;
  }

  SysTree file(String name, String line) throws IOException {
    Path file = root.resolve(name);
    Files.createDirectories(file.getParent());
    Files.writeString(file, line + "\n");
    return this;
  }

  /** A symbolic link, to another place of this tree or to none. */
  SysTree link(String name, String target) throws IOException {
    Path link = root.resolve(name);
    Files.createDirectories(link.getParent());
    Files.deleteIfExists(link);
    Files.createSymbolicLink(link, Path.of(target));
    return this;
  }

  /** A port of a RoCE device with the given GIDs, in pairs of type and GID. */
  SysTree rocePort(String device, int port, String state, String... gids) throws IOException {
    String folder = "class/infiniband/" + device + "/ports/" + port + "/";
    file("class/infiniband/" + device + "/node_type", "1: CA");
    file(folder + "state", state);
    file(folder + "link_layer", "Ethernet");
    for (int i = 0; i < gids.length / 2; i++) {
      file(folder + "gid_attrs/types/" + i, gids[2 * i]);
      file(folder + "gids/" + i, gids[2 * i + 1]);
    }
    return this;
  }
}
