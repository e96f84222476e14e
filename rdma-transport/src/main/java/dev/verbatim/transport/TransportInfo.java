package dev.verbatim.transport;

import java.net.InetSocketAddress;

/**
 * What an open transport runs on, for logs and user interfaces.
 *
 * @param device name of the device, for example {@code mlx5_0} or {@code rxe0}
 * @param port number of the port, from 1
 * @param linkLayer for example {@code RoCE v2}, {@code InfiniBand}, {@code iWARP}
 * @param gidIndex index of the GID in the port's table, -1 where there is none
 * @param gid the GID in IPv6 notation, empty where there is none
 * @param address where the listener accepts connections; its port is the listener's
 * @param pathMtu active MTU of the port, bytes
 * @param readDepth READs that may be outstanding on one queue pair
 * @param numaNode NUMA node of the device, -1 when unknown
 */
public record TransportInfo(
    String device,
    int port,
    String linkLayer,
    int gidIndex,
    String gid,
    InetSocketAddress address,
    int pathMtu,
    int readDepth,
    int numaNode) {}
