package dev.verbatim.device;

import dev.verbatim.verbs.VerbsException;
import java.util.List;

/**
 * All RDMA devices of the machine.
 *
 * @param devices those that could be opened and asked
 * @param unusable those that could not
 */
public record DeviceListing(List<DeviceInfo> devices, List<Unusable> unusable) {

  public DeviceListing {
    devices = List.copyOf(devices);
    unusable = List.copyOf(unusable);
  }

  /**
   * A device that could not be opened or asked.
   *
   * @param name of the device
   * @param reason what failed; EACCES or EPERM where permission on {@code /dev/infiniband} lacks
   */
  public record Unusable(String name, VerbsException reason) {}
}
