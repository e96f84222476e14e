/**
 * What RDMA devices, ports and addresses this machine has, as plain values.
 *
 * <p>{@link dev.verbatim.device.RdmaDevices} finds them through {@link dev.verbatim.verbs.Verbs},
 * sysfs and {@link java.net.NetworkInterface}.
 */
package dev.verbatim.device;
