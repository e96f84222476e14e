package dev.verbatim.transport;

/** Why a process cannot use RDMA at all. */
public enum UnavailableReason {
  /** {@code libibverbs.so.1} or {@code librdmacm.so.1} cannot be loaded. */
  NO_LIBRARY,
  /** No RDMA device is visible, or none of the wanted name. */
  NO_DEVICE,
  /** A device exists but its files under {@code /dev/infiniband} cannot be opened. */
  NO_PERMISSION,
  /** No port of the device is {@code PORT_ACTIVE}, or the wanted port is not. */
  PORT_NOT_ACTIVE,
  /** The wanted address, or the host's own, belongs to no RDMA device. */
  ADDRESS_NOT_RDMA,
  /** {@code RLIMIT_MEMLOCK} is too small to pin what the transport needs. */
  MEMLOCK,
  /** The process can map no more memory: {@code vm.max_map_count}, {@code RLIMIT_AS}. */
  MAPPING_LIMIT,
  /** The native library's structs are not what this program was built for. */
  INCOMPATIBLE_LIBRARY,
  /** Anything else that a call reported at start. */
  DEVICE_ERROR
}
