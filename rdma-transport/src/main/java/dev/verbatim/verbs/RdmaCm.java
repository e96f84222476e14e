package dev.verbatim.verbs;

import java.lang.foreign.MemorySegment;

/**
 * {@code librdmacm}, one method per C function; the function's manual page describes the rest. What
 * {@link Verbs} says of pointers and threads holds here too. Identifiers are {@link RdmaCmId}.
 */
public interface RdmaCm {

  /**
   * {@code rdma_create_event_channel(3)}: an {@link RdmaEventChannel}. ENODEV or ENOENT where the
   * machine has no RDMA device or no {@code rdma_ucm} module.
   */
  MemorySegment createEventChannel() throws VerbsException;

  /** {@code rdma_destroy_event_channel(3)}, after all its identifiers. */
  void destroyEventChannel(MemorySegment channel);

  /**
   * {@code rdma_create_id(3)}.
   *
   * @param context for {@link RdmaCmId#CONTEXT}; identifiers of requests inherit the listener's
   * @param portSpace {@link VerbsConstants#RDMA_PS_TCP}
   */
  MemorySegment createId(MemorySegment channel, MemorySegment context, int portSpace)
      throws VerbsException;

  /** {@code rdma_destroy_id(3)}: waits until all its events are acknowledged. */
  void destroyId(MemorySegment id) throws VerbsException;

  /** {@code rdma_bind_addr(3)} to a {@link Sockaddr}; ENODEV where no device has that address. */
  void bindAddr(MemorySegment id, MemorySegment address) throws VerbsException;

  /**
   * {@code rdma_resolve_addr(3)}; the result is an event.
   *
   * @param source or NULL
   * @param timeoutMillis from 1
   */
  void resolveAddr(
      MemorySegment id, MemorySegment source, MemorySegment destination, int timeoutMillis)
      throws VerbsException;

  /** {@code rdma_resolve_route(3)}; the result is an event. */
  void resolveRoute(MemorySegment id, int timeoutMillis) throws VerbsException;

  /** {@code rdma_create_qp(3)}: the queue pair is {@link RdmaCmId#QP}, owned by the identifier. */
  void createQp(MemorySegment id, MemorySegment pd, MemorySegment initAttr) throws VerbsException;

  /** {@code rdma_destroy_qp(3)}. */
  void destroyQp(MemorySegment id);

  /** {@code rdma_listen(3)}. */
  void listen(MemorySegment id, int backlog) throws VerbsException;

  /** {@code rdma_connect(3)} with an {@link RdmaConnParam}; the result is an event. */
  void connect(MemorySegment id, MemorySegment connParam) throws VerbsException;

  /** {@code rdma_accept(3)} with an {@link RdmaConnParam}; the result is an event. */
  void accept(MemorySegment id, MemorySegment connParam) throws VerbsException;

  /**
   * {@code rdma_reject(3)}.
   *
   * @param privateData or NULL
   * @param length bytes, 0 to 148
   */
  void reject(MemorySegment id, MemorySegment privateData, int length) throws VerbsException;

  /** {@code rdma_disconnect(3)}. */
  void disconnect(MemorySegment id) throws VerbsException;

  /**
   * {@code rdma_get_cm_event(3)}: blocks unless the channel's descriptor is non-blocking.
   *
   * @return an {@link RdmaCmEvent} to be acknowledged, or NULL where none is waiting on a
   *     non-blocking descriptor, or a signal interrupted
   */
  MemorySegment getCmEvent(MemorySegment channel) throws VerbsException;

  /** {@code rdma_ack_cm_event(3)}: frees the event and its private data. */
  void ackCmEvent(MemorySegment event) throws VerbsException;

  /** {@code rdma_set_option(3)}; {@code level} and {@code name} of {@code RDMA_OPTION_*}. */
  void setOption(MemorySegment id, int level, int name, MemorySegment value, long length)
      throws VerbsException;

  /** {@code rdma_migrate_id(3)}: waits until all its events on the old channel are acknowledged. */
  void migrateId(MemorySegment id, MemorySegment channel) throws VerbsException;

  /** {@code rdma_get_src_port(3)}, in host byte order. */
  int getSrcPort(MemorySegment id);

  /** {@code rdma_get_dst_port(3)}, in host byte order. */
  int getDstPort(MemorySegment id);

  /**
   * {@code rdma_get_devices(3)}: the contexts of all devices, opened by the library and never to be
   * closed by the caller.
   *
   * @param count four bytes that receive the number of devices
   * @return array of that many pointers to {@link IbvContext}, to be freed by {@link #freeDevices}
   */
  MemorySegment getDevices(MemorySegment count) throws VerbsException;

  /** {@code rdma_free_devices(3)}. */
  void freeDevices(MemorySegment list);
}
