package dev.verbatim.device;

import dev.verbatim.verbs.NodeType;
import dev.verbatim.verbs.TransportType;
import java.util.List;

/**
 * An RDMA device.
 *
 * @param name for example {@code mlx5_0} or {@code rxe0}
 * @param guid node GUID in host byte order
 * @param vendorId of the device's maker, an IEEE OUI; 0 where it tells none
 * @param firmware version of the firmware, empty where the device has none
 * @param numaNode node of the host's memory that the device is close to, -1 when unknown
 * @param completionVectors interrupt vectors for completion channels, from 1
 * @param ports in the order of their numbers
 */
public record DeviceInfo(
    String name,
    NodeType nodeType,
    TransportType transportType,
    long guid,
    int vendorId,
    String firmware,
    int numaNode,
    int completionVectors,
    DeviceLimits limits,
    List<PortInfo> ports) {

  public DeviceInfo {
    ports = List.copyOf(ports);
  }
}
