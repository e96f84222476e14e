package dev.verbatim.transport;

import dev.verbatim.device.DeviceLimits;

/**
 * What an endpoint takes.
 *
 * @param sendDepth requests other than receives that may be under way
 * @param receiveDepth receives that may be posted
 * @param slices pieces of memory of one request
 * @param readSlices pieces of memory of one READ, with iWARP often 1
 * @param inlineBytes up to which what is sent or written travels in the request itself
 * @param readDepth READs and atomic operations that are under way at a time; more wait at the
 *     device
 * @param messageBytes longest message, READ or WRITE
 * @param atomics whether the device has fetch-and-add and compare-and-swap
 */
public record EndpointLimits(
    int sendDepth,
    int receiveDepth,
    int slices,
    int readSlices,
    int inlineBytes,
    int readDepth,
    long messageBytes,
    boolean atomics) {

  /** SGE lengths are of 32 bits, and no port is known to take more. */
  private static final long MESSAGE_MOST = 1L << 31;

  /**
   * What the configuration wants of a device.
   *
   * @param maxMessageBytes {@code max_msg_sz} of the port, 0 when it is not told
   * @throws EndpointException when the device allows less
   */
  static EndpointLimits of(EndpointConfig config, DeviceLimits device, long maxMessageBytes)
      throws EndpointException {
    most("sendDepth", config.sendDepth(), "max_qp_wr", device.maxQpWr());
    most("receiveDepth", config.receiveDepth(), "max_qp_wr", device.maxQpWr());
    most("slices", config.slices(), "max_sge", device.maxSge());
    most("maxEndpoints", config.maxEndpoints(), "max_qp", device.maxQp());
    most(
        "maxEndpoints * (sendDepth + receiveDepth)",
        config.completionEntries(),
        "max_cqe",
        device.maxCqe());
    int served = QueueLimits.depth(config.readDepth(), device.maxQpRdAtom());
    int initiated = QueueLimits.depth(config.readDepth(), device.maxQpInitRdAtom());
    return new EndpointLimits(
        config.sendDepth(),
        config.receiveDepth(),
        config.slices(),
        device.maxSgeRd() > 0 ? Math.min(config.slices(), device.maxSgeRd()) : config.slices(),
        config.inlineBytes(),
        Math.min(served, initiated),
        maxMessageBytes > 0 ? Math.min(maxMessageBytes, MESSAGE_MOST) : 1L << 30,
        device.atomics());
  }

  private static void most(String name, long wanted, String limit, long allowed)
      throws EndpointException {
    if (wanted > allowed) {
      throw new EndpointException(
          name + " = " + wanted + " is more than the device's " + limit + ", " + allowed);
    }
  }

  EndpointLimits withInlineBytes(int granted) {
    return new EndpointLimits(
        sendDepth, receiveDepth, slices, readSlices, granted, readDepth, messageBytes, atomics);
  }
}
