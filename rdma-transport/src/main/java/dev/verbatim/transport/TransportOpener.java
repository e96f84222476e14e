package dev.verbatim.transport;

import dev.verbatim.device.DeviceInfo;
import dev.verbatim.device.DeviceListing;
import dev.verbatim.device.RdmaDevices;
import dev.verbatim.verbs.IbvContext;
import dev.verbatim.verbs.NativeLibraries;
import dev.verbatim.verbs.RdmaCm;
import dev.verbatim.verbs.RdmaCmId;
import dev.verbatim.verbs.Sockaddr;
import dev.verbatim.verbs.VerbsConstants;
import dev.verbatim.verbs.VerbsException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Opens a transport step by step; each step that fails says what was seen and what would help. */
final class TransportOpener {
  private static final Logger LOG = LoggerFactory.getLogger(TransportOpener.class);

  private final TransportConfig config;
  private final NativeLibraries.Loaded libraries;
  private final Supplier<List<InetAddress>> ownAddresses;

  TransportOpener(
      TransportConfig config,
      NativeLibraries.Loaded libraries,
      Supplier<List<InetAddress>> ownAddresses) {
    this.config = config;
    this.libraries = libraries;
    this.ownAddresses = ownAddresses;
  }

  static OpenResult open(TransportConfig wanted) {
    TransportConfig config = wanted.copy().conclude();
    return switch (NativeLibraries.load()) {
      case NativeLibraries.Absent absent ->
          new OpenResult.Unavailable(
              UnavailableReason.NO_LIBRARY,
              absent.library() + ": " + absent.seen(),
              absent.remedy());
      case NativeLibraries.Loaded loaded ->
          new TransportOpener(config, loaded, TransportOpener::hostAddresses).open();
    };
  }

  OpenResult open() {
    RdmaDevices devices = new RdmaDevices(libraries.verbs());
    PortSelector selector;
    try {
      DeviceListing listing = devices.list();
      selector = new PortSelector(config, listing);
    } catch (VerbsException e) {
      return Obstacles.ofListing(e);
    }
    Optional<OpenResult.Unavailable> obstacle = selector.obstacle();
    if (obstacle.isPresent()) {
      return obstacle.get();
    }
    MemorySegment channel;
    try {
      channel = libraries.rdmaCm().createEventChannel();
    } catch (VerbsException e) {
      return Obstacles.ofConnectionManager(e);
    }
    OpenResult result = null;
    try {
      result = openOn(channel, devices, selector);
      return result;
    } finally {
      if (!(result instanceof OpenResult.Opened)) {
        libraries.rdmaCm().destroyEventChannel(channel);
      }
    }
  }

  private OpenResult openOn(MemorySegment channel, RdmaDevices devices, PortSelector selector) {
    Set<InetAddress> addresses = new LinkedHashSet<>();
    if (config.address() != null) {
      addresses.add(config.address());
    } else {
      addresses.addAll(selector.gidAddresses());
      addresses.addAll(ownAddresses.get());
    }
    List<Bound> bound = new ArrayList<>();
    List<PortSelector.NotBound> others = new ArrayList<>();
    for (InetAddress address : addresses) {
      try {
        tryBind(channel, address, devices).ifPresent(bound::add);
      } catch (VerbsException e) {
        others.add(new PortSelector.NotBound(address, e));
      }
    }
    List<PortSelector.Binding> bindings = bound.stream().map(Bound::binding).toList();
    Optional<PortSelector.Choice> choice = selector.choose(bindings);
    if (choice.isEmpty()) {
      return selector.noChoice(bindings, List.copyOf(addresses), others);
    }
    // Perhaps a better address than the chosen one, and nothing else tells of it.
    others.stream()
        .filter(PortSelector.NotBound::mayBeRdma)
        .forEach(other -> LOG.warn("The address {} cannot be used", other.describe()));
    MemorySegment context =
        bound.stream()
            .filter(b -> b.binding.address().equals(choice.get().address()))
            .findFirst()
            .orElseThrow()
            .context;
    return openPort(channel, context, devices, choice.get(), selector);
  }

  private OpenResult openPort(
      MemorySegment channel,
      MemorySegment context,
      RdmaDevices devices,
      PortSelector.Choice choice,
      PortSelector selector) {
    QueueLimits limits =
        QueueLimits.of(config, choice.device().limits(), choice.port().maxMessageSize());
    if (limits.initiatorDepth() == 0 || limits.responderDepth() == 0) {
      return new OpenResult.Unavailable(
          UnavailableReason.DEVICE_ERROR,
          choice.device().name()
              + " allows no outstanding READ: max_qp_init_rd_atom and max_qp_rd_atom are "
              + choice.device().limits().maxQpInitRdAtom()
              + " and "
              + choice.device().limits().maxQpRdAtom(),
          "use another device");
    }
    if (limits.maxConnections() < config.maxConnections()) {
      LOG.info(
          "{} allows {} queue pairs at a time, fewer than the {} configured",
          choice.device().name(),
          limits.maxConnections(),
          config.maxConnections());
    }
    Memlock memlock = new Memlock(libraries.posix());
    try {
      OpenPort port = OpenPort.open(libraries, context, choice.port().number(), limits);
      TransportParts parts = new TransportParts(config, port, channel, devices, choice, memlock);
      boolean started = false;
      try {
        parts.listen();
        parts.warmUp();
        parts.start();
        started = true;
      } finally {
        if (!started) { // an Error, too: there may be no thread to be had
          parts.closeAllButChannel();
        }
      }
      return new OpenResult.Opened(new RdmaTransport(parts));
    } catch (RegistrationException e) {
      return Obstacles.ofRegistration(e);
    } catch (ListenException e) {
      return Obstacles.ofBinding(
          e.reason(), e.getMessage() + "; there are: " + selector.describe());
    } catch (VerbsException e) {
      return Obstacles.ofResources(e, memlock);
    }
  }

  private record Bound(PortSelector.Binding binding, MemorySegment context) {}

  /** Asks RDMA CM by trying which device, if any, an address belongs to. */
  private Optional<Bound> tryBind(MemorySegment channel, InetAddress address, RdmaDevices devices)
      throws VerbsException {
    RdmaCm rdmaCm = libraries.rdmaCm();
    MemorySegment id = MemorySegment.NULL;
    try (Arena arena = Arena.ofConfined()) {
      id = rdmaCm.createId(channel, MemorySegment.NULL, VerbsConstants.RDMA_PS_TCP);
      rdmaCm.bindAddr(id, Sockaddr.allocate(arena, new InetSocketAddress(address, 0)));
      MemorySegment context = RdmaCmId.VERBS.get(RdmaCmId.STRUCT.at(id));
      if (context.address() == 0) {
        return Optional.empty(); // bound to no device, as a wildcard is
      }
      DeviceInfo device = devices.describe(IbvContext.STRUCT.at(context));
      int port = RdmaCmId.PORT_NUM.get(RdmaCmId.STRUCT.at(id)) & 0xff;
      return Optional.of(
          new Bound(new PortSelector.Binding(address, device.name(), port), context));
    } finally {
      destroy(rdmaCm, id);
    }
  }

  private static void destroy(RdmaCm rdmaCm, MemorySegment id) {
    try {
      if (id.address() != 0) {
        rdmaCm.destroyId(id);
      }
    } catch (VerbsException e) {
      LOG.debug("{}", e.getMessage());
    }
  }

  /** All addresses of the host that others may reach: not loopback, not of interfaces down. */
  private static List<InetAddress> hostAddresses() {
    try {
      return NetworkInterface.networkInterfaces()
          .flatMap(NetworkInterface::inetAddresses)
          .filter(a -> !a.isLoopbackAddress() && !a.isAnyLocalAddress() && !a.isMulticastAddress())
          .toList();
    } catch (SocketException e) {
      LOG.warn("The host's addresses cannot be listed: {}", e.toString());
      return List.of();
    }
  }
}
