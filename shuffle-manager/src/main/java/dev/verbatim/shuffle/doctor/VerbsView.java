package dev.verbatim.shuffle.doctor;

import dev.verbatim.device.DeviceInfo;
import dev.verbatim.device.DeviceListing;
import dev.verbatim.device.PortInfo;
import dev.verbatim.device.RdmaDevices;
import dev.verbatim.verbs.NativeLibraries;
import dev.verbatim.verbs.VerbsException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What the native library tells of devices, and the kernel's files do not.
 *
 * @param absent why the library cannot be used; empty where it can
 * @param cure what would help then
 * @param failures of the list of devices, of each device that could not be opened, and of each that
 *     the library's check refused
 */
public record VerbsView(String absent, String cure, List<String> failures, List<Port> ports) {

  public VerbsView {
    failures = List.copyOf(failures);
    ports = List.copyOf(ports);
  }

  /**
   * A port of a device that could be opened.
   *
   * @param activeMtu payload of a packet, bytes; 0 when unknown
   * @param maxMtu the largest that the port can do, bytes; 0 when unknown
   * @param rate speed and lanes in use, as the library's numbers say
   * @param readsAsked READs that a queue pair may have outstanding, max_qp_init_rd_atom
   * @param readsServed READs that a queue pair serves at a time, max_qp_rd_atom
   */
  public record Port(
      String device,
      int number,
      String state,
      int activeMtu,
      int maxMtu,
      String rate,
      int readsAsked,
      int readsServed) {

    private static Port of(DeviceInfo device, PortInfo port) {
      return new Port(
          device.name(),
          port.number(),
          port.state().name(),
          port.activeMtu(),
          port.maxMtu(),
          port.rate().toString(),
          device.limits().maxQpInitRdAtom(),
          device.limits().maxQpRdAtom());
    }
  }

  /** Of this process's libraries. */
  static VerbsView live() {
    return switch (NativeLibraries.load()) {
      case NativeLibraries.Absent none ->
          new VerbsView(none.library() + ": " + none.seen(), none.remedy(), List.of(), List.of());
      case NativeLibraries.Loaded loaded -> list(new RdmaDevices(loaded.verbs()));
    };
  }

  private static VerbsView list(RdmaDevices devices) {
    try {
      DeviceListing listing = devices.list();
      List<String> failures = new ArrayList<>(listing.incompatible());
      listing.unusable().forEach(u -> failures.add(u.name() + ": " + u.reason().getMessage()));
      List<Port> ports =
          listing.devices().stream()
              .flatMap(device -> device.ports().stream().map(port -> Port.of(device, port)))
              .toList();
      return new VerbsView("", "", failures, ports);
    } catch (VerbsException e) {
      return new VerbsView("", "", List.of(e.getMessage()), List.of());
    }
  }

  Optional<Port> port(String device, int number) {
    return ports.stream().filter(p -> p.device.equals(device) && p.number == number).findFirst();
  }
}
