package dev.verbatim.transport;

import dev.verbatim.device.DeviceLimits;

/**
 * What the configuration wants, clamped to what the device allows. Asking a device for more than
 * its limit fails, and each device has other limits.
 *
 * @param initiatorDepth READs that one queue pair of ours may have outstanding, 0 to 255
 * @param responderDepth READs of a peer that one queue pair of ours serves at a time, 0 to 255
 * @param completionEntries entries of the completion queue
 * @param sendQueueDepth work requests that one queue pair may have posted
 * @param maxConnections queue pairs, initiated and accepted
 * @param maxReadBytes longest single READ, bytes
 */
record QueueLimits(
    int initiatorDepth,
    int responderDepth,
    int completionEntries,
    int sendQueueDepth,
    int maxConnections,
    long maxReadBytes) {

  /** More posted work requests than this per queue pair do not raise throughput. */
  private static final int SEND_QUEUE_WANTED = 128;

  private static final int SEND_QUEUE_LEAST = 16;

  /** Completion queue memory is pinned: 64 bytes per entry on common devices. */
  private static final int COMPLETION_ENTRIES_MOST = 1 << 16;

  /** Some providers count work requests of their own against the limit. */
  private static final int SEND_QUEUE_SLACK = 2;

  /**
   * @param maxMessageBytes {@code max_msg_sz} of the port, bytes; 0 when it is not told
   */
  static QueueLimits of(TransportConfig config, DeviceLimits device, long maxMessageBytes) {
    int perQueue = Math.max(1, Math.min(SEND_QUEUE_WANTED, device.maxQpWr() - SEND_QUEUE_SLACK));
    int connections = Math.max(1, Math.min(config.maxConnections(), device.maxQp()));
    long wanted = (long) connections * perQueue;
    int entries =
        (int) Math.min(Math.min(wanted, COMPLETION_ENTRIES_MOST), Math.max(1, device.maxCqe()));
    // The completion queue must have room for every work request of every queue pair: each one
    // completes when its queue pair fails, and an overrun would break all connections.
    int depth = Math.min(perQueue, Math.max(SEND_QUEUE_LEAST, entries / connections));
    depth = Math.max(1, Math.min(depth, entries));
    connections = Math.max(1, Math.min(connections, entries / depth));
    long readBytes = maxMessageBytes > 0 ? Math.min(maxMessageBytes, 1L << 30) : 1L << 30;
    if (config.maxReadBytes() > 0) {
      readBytes = Math.min(readBytes, config.maxReadBytes());
    }
    return new QueueLimits(
        depth(config.readDepth(), device.maxQpInitRdAtom()),
        depth(config.readDepth(), device.maxQpRdAtom()),
        entries,
        depth,
        connections,
        readBytes);
  }

  /** READ depth that both sides allow, 0 when one of them allows none. */
  static int depth(int one, int other) {
    return Math.max(0, Math.min(255, Math.min(one, other)));
  }
}
