package dev.verbatim.device;

/**
 * Limits of a device as {@code ibv_query_device(3)} reports them. The kernel's own limits, such as
 * {@code RLIMIT_MEMLOCK}, may be smaller.
 *
 * @param maxQp queue pairs
 * @param maxQpWr work requests of one queue
 * @param maxSge scatter/gather elements of a work request
 * @param maxSgeRd scatter/gather elements of a READ where it differs, as iWARP's; 0 when not told
 * @param maxCq completion queues
 * @param maxCqe entries of a completion queue
 * @param maxMr memory regions
 * @param maxMrSize longest memory region, bytes, as an unsigned number
 * @param maxPd protection domains
 * @param maxQpRdAtom READs that one queue pair can serve at a time
 * @param maxQpInitRdAtom READs that one queue pair can have outstanding
 * @param maxResRdAtom READs that the whole device can serve at a time
 * @param atomics whether it has atomic operations on the memory of peers
 */
public record DeviceLimits(
    int maxQp,
    int maxQpWr,
    int maxSge,
    int maxSgeRd,
    int maxCq,
    int maxCqe,
    int maxMr,
    long maxMrSize,
    int maxPd,
    int maxQpRdAtom,
    int maxQpInitRdAtom,
    int maxResRdAtom,
    boolean atomics) {}
