package dev.verbatim.verbs;

import java.lang.foreign.MemorySegment;

/**
 * {@code libibverbs}, one method per C function; the function's manual page describes the rest.
 *
 * <p>Pointers are segments; those that are returned have the struct's size and the life that C
 * gives it, so nothing here guards against use after destruction. NULL is {@link
 * MemorySegment#NULL}; a method whose main argument is NULL throws {@link NullPointerException}
 * instead of crashing. All methods may be called by any thread, as in C.
 */
public interface Verbs {

  /**
   * {@code ibv_get_device_list(3)}; ENOSYS where the kernel has no RDMA.
   *
   * @param count four bytes that receive the number of devices
   * @return array of that many pointers to {@link IbvDevice}, to be freed by {@link
   *     #freeDeviceList}
   */
  MemorySegment getDeviceList(MemorySegment count) throws VerbsException;

  /** {@code ibv_free_device_list(3)}: ends the life of the devices that are not open. */
  void freeDeviceList(MemorySegment list);

  /** {@code ibv_get_device_name(3)}. */
  String getDeviceName(MemorySegment device);

  /** {@code ibv_get_device_guid(3)}, in host byte order. */
  long getDeviceGuid(MemorySegment device);

  /** {@code ibv_open_device(3)}: an {@link IbvContext}. */
  MemorySegment openDevice(MemorySegment device) throws VerbsException;

  /** {@code ibv_close_device(3)}. */
  void closeDevice(MemorySegment context) throws VerbsException;

  /** {@code ibv_query_device(3)} into an {@link IbvDeviceAttr}. */
  void queryDevice(MemorySegment context, MemorySegment deviceAttr) throws VerbsException;

  /**
   * {@code ibv_query_port(3)}.
   *
   * @param port from 1
   * @param portAttr made by {@link IbvPortAttr#allocate}
   */
  void queryPort(MemorySegment context, int port, MemorySegment portAttr) throws VerbsException;

  /** {@code ibv_query_gid(3)} into an {@link IbvGid}. */
  void queryGid(MemorySegment context, int port, int index, MemorySegment gid)
      throws VerbsException;

  /**
   * {@code ibv_query_gid_table(3)}: the valid entries of all ports.
   *
   * <p>EINVAL where there are more than {@code max}, and where {@code max} entries make 64 KiB or
   * more.
   *
   * @param entries array of {@code max} {@link IbvGidEntry}
   * @param max 1 to 2047
   * @return number of entries filled, or -1 where the library or the kernel has no such call
   */
  long queryGidTable(MemorySegment context, MemorySegment entries, long max) throws VerbsException;

  /** {@code ibv_alloc_pd(3)}: an {@link IbvPd}. */
  MemorySegment allocPd(MemorySegment context) throws VerbsException;

  /** {@code ibv_dealloc_pd(3)}. */
  void deallocPd(MemorySegment pd) throws VerbsException;

  /**
   * {@code ibv_reg_mr(3)}: an {@link IbvMr}.
   *
   * @param length bytes
   * @param access {@code IBV_ACCESS_*}
   */
  MemorySegment regMr(MemorySegment pd, MemorySegment address, long length, int access)
      throws VerbsException;

  /**
   * {@code ibv_reg_mr_iova(3)}: an {@link IbvMr} that peers address from {@code iova}.
   *
   * @param iova congruent to the address modulo the page size
   */
  MemorySegment regMrIova(
      MemorySegment pd, MemorySegment address, long length, long iova, int access)
      throws VerbsException;

  /** {@code ibv_dereg_mr(3)}. */
  void deregMr(MemorySegment mr) throws VerbsException;

  /** {@code ibv_create_comp_channel(3)}: an {@link IbvCompChannel}. */
  MemorySegment createCompChannel(MemorySegment context) throws VerbsException;

  /** {@code ibv_destroy_comp_channel(3)}. */
  void destroyCompChannel(MemorySegment channel) throws VerbsException;

  /**
   * {@code ibv_create_cq(3)}: an {@link IbvCq}.
   *
   * @param entries least number of entries, from 1
   * @param cqContext what {@link #getCqEvent} gives back, or NULL
   * @param channel for completion events, or NULL
   * @param compVector from 0, below {@link IbvContext#NUM_COMP_VECTORS}
   */
  MemorySegment createCq(
      MemorySegment context,
      int entries,
      MemorySegment cqContext,
      MemorySegment channel,
      int compVector)
      throws VerbsException;

  /** {@code ibv_destroy_cq(3)}: waits until all its events are acknowledged. */
  void destroyCq(MemorySegment cq) throws VerbsException;

  /** {@code ibv_req_notify_cq(3)}: asks for one event at the next completion. */
  void reqNotifyCq(MemorySegment cq, boolean solicitedOnly) throws VerbsException;

  /**
   * {@code ibv_get_cq_event(3)}: blocks unless the channel's descriptor is non-blocking.
   *
   * @param cq a pointer that receives the queue
   * @param cqContext a pointer that receives its context
   * @return false where none is waiting on a non-blocking descriptor, or a signal interrupted
   */
  boolean getCqEvent(MemorySegment channel, MemorySegment cq, MemorySegment cqContext)
      throws VerbsException;

  /** {@code ibv_ack_cq_events(3)}. */
  void ackCqEvents(MemorySegment cq, int count);

  /**
   * {@code ibv_poll_cq(3)}: never blocks, allocates nothing.
   *
   * @param wc array of {@code max} {@link IbvWc}
   * @return number of completions, 0 to {@code max}
   */
  int pollCq(MemorySegment cq, int max, MemorySegment wc) throws VerbsException;

  /** {@code ibv_create_qp(3)}: an {@link IbvQp}; the attributes receive the true sizes. */
  MemorySegment createQp(MemorySegment pd, MemorySegment initAttr) throws VerbsException;

  /** {@code ibv_modify_qp(3)}; {@code mask} of {@code IBV_QP_*}. */
  void modifyQp(MemorySegment qp, MemorySegment attr, int mask) throws VerbsException;

  /** {@code ibv_query_qp(3)}; {@code mask} of {@code IBV_QP_*}. */
  void queryQp(MemorySegment qp, MemorySegment attr, int mask, MemorySegment initAttr)
      throws VerbsException;

  /** {@code ibv_destroy_qp(3)}. */
  void destroyQp(MemorySegment qp) throws VerbsException;

  /**
   * {@code ibv_post_send(3)}: allocates nothing unless it fails.
   *
   * @param wr the first {@link IbvSendWr} of a chain
   * @param badWr a pointer that receives the first request that was not posted
   */
  void postSend(MemorySegment qp, MemorySegment wr, MemorySegment badWr) throws VerbsException;

  /** {@code ibv_post_recv(3)}, as {@link #postSend} with {@link IbvRecvWr}. */
  void postRecv(MemorySegment qp, MemorySegment wr, MemorySegment badWr) throws VerbsException;

  /**
   * {@code ibv_get_async_event(3)} into an {@link IbvAsyncEvent}: blocks unless the context's
   * {@link IbvContext#ASYNC_FD} is non-blocking.
   *
   * @return false where none is waiting on a non-blocking descriptor, or a signal interrupted
   */
  boolean getAsyncEvent(MemorySegment context, MemorySegment event) throws VerbsException;

  /** {@code ibv_ack_async_event(3)}: to be called once for every event got. */
  void ackAsyncEvent(MemorySegment event);
}
