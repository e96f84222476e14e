package dev.verbatim.device;

import dev.verbatim.verbs.VerbsException;
import java.util.List;

/**
 * All RDMA devices of the machine.
 *
 * @param devices those that could be opened and asked
 * @param unusable those that could not
 * @param incompatible what the start-up check found wrong with the library, for each device that it
 *     refused: such a library must not be used at all
 */
public record DeviceListing(
    List<DeviceInfo> devices, List<Unusable> unusable, List<String> incompatible) {

  public DeviceListing {
    devices = List.copyOf(devices);
    unusable = List.copyOf(unusable);
    incompatible = List.copyOf(incompatible);
  }

  /** A listing by a library that passed its check. */
  public DeviceListing(List<DeviceInfo> devices, List<Unusable> unusable) {
    this(devices, unusable, List.of());
  }

  /**
   * A device that could not be opened or asked.
   *
   * @param name of the device
   * @param reason what failed; EACCES or EPERM where permission on {@code /dev/infiniband} lacks
   */
  public record Unusable(String name, VerbsException reason) {}
}
