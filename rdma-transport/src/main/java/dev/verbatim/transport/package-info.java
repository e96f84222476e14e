/**
 * RDMA for programs that know nothing of verbs: open a device, register memory that peers may read,
 * connect to a peer, READ its memory in batches.
 *
 * <p>{@link dev.verbatim.transport.RdmaTransport} is the way in. The package knows nothing of
 * Spark.
 */
package dev.verbatim.transport;
