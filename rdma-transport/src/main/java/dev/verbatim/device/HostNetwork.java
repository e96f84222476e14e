package dev.verbatim.device;

import java.io.IOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** The host's network interfaces, as far as devices refer to them. */
interface HostNetwork {

  /** Name of the interface with an index of the kernel, empty where there is none. */
  Optional<String> nameOf(int index);

  /** IP addresses of an interface, empty where it has none or does not exist. */
  List<InetAddress> addressesOf(String name);

  /** The host's own network, read from {@code /sys/class/net} and by Java. */
  static HostNetwork system() {
    return new HostNetwork() {
      @Override
      public Optional<String> nameOf(int index) {
        // Java's own lookup by index does not see interfaces without an address.
        try (DirectoryStream<Path> all = Files.newDirectoryStream(Path.of("/sys/class/net"))) {
          for (Path netdev : all) {
            if (SysFs.read(netdev.resolve("ifindex")).equals(Optional.of(String.valueOf(index)))) {
              return Optional.of(netdev.getFileName().toString());
            }
          }
        } catch (IOException e) {
          return Optional.empty();
        }
        return Optional.empty();
      }

      @Override
      public List<InetAddress> addressesOf(String name) {
        try {
          NetworkInterface netdev = NetworkInterface.getByName(name);
          return netdev == null ? List.of() : netdev.inetAddresses().toList();
        } catch (SocketException e) {
          return List.of();
        }
      }
    };
  }
}
