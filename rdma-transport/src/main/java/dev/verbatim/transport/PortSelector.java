package dev.verbatim.transport;

import dev.verbatim.device.DeviceInfo;
import dev.verbatim.device.DeviceListing;
import dev.verbatim.device.GidInfo;
import dev.verbatim.device.PortInfo;
import dev.verbatim.verbs.Errno;
import dev.verbatim.verbs.GidType;
import dev.verbatim.verbs.VerbsException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Chooses the port and address to use. Host names and the default route often lead to another
 * network than the RDMA one, and GID tables come in any order, so the choice goes by what RDMA CM
 * can bind to and by what the GID tables say.
 */
final class PortSelector {
  private final TransportConfig config;
  private final DeviceListing listing;

  PortSelector(TransportConfig config, DeviceListing listing) {
    this.config = config;
    this.listing = listing;
  }

  /** An address that RDMA CM can bind to, and where that leads. */
  record Binding(InetAddress address, String device, int port) {}

  /** An address that RDMA CM would not bind to, and what it said. */
  record NotBound(InetAddress address, VerbsException reason) {
    /** Whether the address was not even looked at, so that it may be one of an RDMA device. */
    boolean mayBeRdma() {
      return !Obstacles.isNotOfDevice(reason.errno());
    }

    String describe() {
      return address.getHostAddress() + ": " + reason.getMessage();
    }
  }

  /** What was chosen. */
  record Choice(DeviceInfo device, PortInfo port, InetAddress address) {
    /** The GID that the address stands for, the one of RoCE v2 where there are two. */
    Optional<GidInfo> gid() {
      return PortSelector.gid(port, address);
    }
  }

  /** The reason why nothing can be chosen whatever addresses there are, or empty. */
  Optional<OpenResult.Unavailable> obstacle() {
    if (!listing.incompatible().isEmpty()) {
      return Optional.of(
          new OpenResult.Unavailable(
              UnavailableReason.INCOMPATIBLE_LIBRARY,
              String.join("; ", listing.incompatible()),
              "use the libibverbs of rdma-core, not a replacement of another vendor or version"));
    }
    if (listing.devices().isEmpty()) {
      return Optional.of(noDevice());
    }
    Optional<DeviceListing.Unusable> wanted =
        listing.unusable().stream().filter(u -> u.name().equals(config.deviceName())).findFirst();
    if (wanted.isPresent()) {
      return Optional.of(
          Obstacles.ofDevice(wanted.get().reason(), describe(List.of(wanted.get()))));
    }
    if (config.deviceName() != null && devices().isEmpty()) {
      return Optional.of(
          new OpenResult.Unavailable(
              UnavailableReason.NO_DEVICE,
              "there is no device " + config.deviceName() + "; there are: " + describe(),
              "name one of these devices, or none to let one be chosen"));
    }
    if (ports().isEmpty()) {
      return Optional.of(
          new OpenResult.Unavailable(
              UnavailableReason.NO_DEVICE,
              "no device has a port " + config.port() + "; there are: " + describe(),
              "name one of these ports, or none to let one be chosen"));
    }
    if (ports().stream().noneMatch(port -> port.info.active())) {
      return Optional.of(portNotActive(describe()));
    }
    return Optional.empty();
  }

  private OpenResult.Unavailable noDevice() {
    List<DeviceListing.Unusable> unusable = listing.unusable();
    if (unusable.isEmpty()) {
      return new OpenResult.Unavailable(
          UnavailableReason.NO_DEVICE,
          "no RDMA device is visible",
          "load the device's driver; `rdma link` lists what the kernel has; "
              + Obstacles.CONTAINER_REMEDY);
    }
    VerbsException first =
        unusable.stream()
            .map(DeviceListing.Unusable::reason)
            .filter(reason -> Obstacles.isPermission(reason.errno()))
            .findFirst()
            .orElse(unusable.getFirst().reason());
    return Obstacles.ofDevice(first, describe(unusable));
  }

  private static String describe(List<DeviceListing.Unusable> unusable) {
    return unusable.stream()
        .map(u -> u.name() + ": " + u.reason().getMessage())
        .collect(Collectors.joining("; "));
  }

  private static OpenResult.Unavailable portNotActive(String seen) {
    return new OpenResult.Unavailable(
        UnavailableReason.PORT_NOT_ACTIVE,
        "no port is PORT_ACTIVE: " + seen,
        "bring the link up (`ip link set DEV up`, cable, switch, subnet manager)");
  }

  /** The best of the bindings. */
  Optional<Choice> choose(List<Binding> bindings) {
    List<Choice> choices = new ArrayList<>();
    for (Binding binding : bindings) {
      for (Port port : ports()) {
        if (port.device.name().equals(binding.device())
            && port.info.number() == binding.port()
            && port.info.active()) {
          choices.add(new Choice(port.device, port.info, binding.address()));
        }
      }
    }
    return choices.stream().min(ORDER);
  }

  /** Why none of the bindings will do. */
  OpenResult.Unavailable noChoice(
      List<Binding> bindings, List<InetAddress> tried, List<NotBound> others) {
    if (config.address() != null && !bindings.isEmpty()) {
      Binding binding = bindings.getFirst();
      return portNotActive(
          "%s belongs to %s port %d; there are: %s"
              .formatted(
                  config.address().getHostAddress(), binding.device(), binding.port(), describe()));
    }
    Optional<NotBound> failed = others.stream().filter(NotBound::mayBeRdma).findFirst();
    if (failed.isPresent()) {
      return Obstacles.ofBinding(
          failed.get().reason(), failed.get().describe() + "; there are: " + describe());
    }
    String addresses =
        tried.stream().map(address -> describe(address, others)).collect(Collectors.joining(", "));
    return new OpenResult.Unavailable(
        UnavailableReason.ADDRESS_NOT_RDMA,
        "none of the addresses tried ("
            + addresses
            + ") belongs to an active RDMA port that may be used; there are: "
            + describe()
            + (inOtherNamespace() ? "; their addresses are of another network namespace" : ""),
        inOtherNamespace()
            ? Obstacles.CONTAINER_REMEDY
            : "give the RDMA port's network interface an IP address, or name the address of one");
  }

  /**
   * Whether the ports have IP addresses, and none of them is of an interface that this process
   * sees: RDMA CM binds only addresses of a process's own network namespace.
   */
  private boolean inOtherNamespace() {
    List<GidInfo> gids =
        ports().stream()
            .flatMap(port -> port.info.gids().stream())
            .filter(gid -> gid.address().isPresent())
            .toList();
    return !gids.isEmpty()
        && gids.stream()
            .noneMatch(gid -> gid.netdevAddresses().contains(gid.address().orElseThrow()));
  }

  /** An address that was tried, with what RDMA CM said where that was an error. */
  private static String describe(InetAddress address, List<NotBound> others) {
    String errno =
        others.stream()
            .filter(other -> other.address().equals(address))
            .map(other -> " " + Errno.name(other.reason().errno()))
            .findFirst()
            .orElse("");
    return address.getHostAddress() + errno;
  }

  private record Port(DeviceInfo device, PortInfo info) {}

  private List<DeviceInfo> devices() {
    return listing.devices().stream()
        .filter(d -> config.deviceName() == null || d.name().equals(config.deviceName()))
        .toList();
  }

  private List<Port> ports() {
    List<Port> ports = new ArrayList<>();
    for (DeviceInfo device : devices()) {
      for (PortInfo port : device.ports()) {
        if (config.port() == 0 || port.number() == config.port()) {
          ports.add(new Port(device, port));
        }
      }
    }
    return ports;
  }

  /** Addresses that the GID tables of the ports in question name. */
  List<InetAddress> gidAddresses() {
    return ports().stream()
        .flatMap(port -> port.info.gids().stream())
        .flatMap(gid -> gid.address().stream())
        .distinct()
        .toList();
  }

  /** All devices and ports, for messages. */
  String describe() {
    List<String> texts = new ArrayList<>();
    for (DeviceInfo device : listing.devices()) {
      for (PortInfo port : device.ports()) {
        String addresses =
            port.gids().stream()
                .flatMap(gid -> gid.netdevAddresses().stream())
                .map(InetAddress::getHostAddress)
                .distinct()
                .collect(Collectors.joining(", "));
        texts.add(
            "%s port %d (%s, %s, addresses: %s)"
                .formatted(
                    device.name(),
                    port.number(),
                    port.state(),
                    port.link().label(),
                    addresses.isEmpty() ? "none" : addresses));
      }
    }
    if (!listing.unusable().isEmpty()) {
      texts.add("unusable: " + describe(listing.unusable()));
    }
    return String.join("; ", texts);
  }

  static Optional<GidInfo> gid(PortInfo port, InetAddress address) {
    return port.gids().stream()
        .filter(gid -> gid.address().filter(address::equals).isPresent() || isOnly(gid, port))
        .min(Comparator.comparing((GidInfo gid) -> gid.type() != GidType.ROCE_V2));
  }

  /** InfiniBand's GIDs say nothing of IP addresses; the first one is the port's. */
  private static boolean isOnly(GidInfo gid, PortInfo port) {
    return port.link() == PortInfo.Link.INFINIBAND && gid.equals(port.gids().getFirst());
  }

  private static boolean isBestGid(Choice choice) {
    return switch (choice.port.link()) {
      case ROCE_V1, ROCE_V2 ->
          choice.gid().filter(gid -> gid.type() == GidType.ROCE_V2).isPresent();
      case INFINIBAND, IWARP -> true;
      case OTHER -> false;
    };
  }

  private static final Comparator<Choice> ORDER =
      Comparator.comparing((Choice c) -> !isBestGid(c))
          .thenComparing(c -> c.address.isLinkLocalAddress())
          .thenComparing(c -> -c.port.rate().gigabitsPerSecond())
          .thenComparing(c -> !(c.address instanceof Inet4Address))
          .thenComparing(c -> c.device.name())
          .thenComparing(c -> c.port.number())
          .thenComparing(c -> c.address.getHostAddress());
}
