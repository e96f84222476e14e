package dev.verbatim.shuffle.reader;

import dev.verbatim.transport.PeerAddress;

/** Whether and where an executor can be reached by RDMA. */
public sealed interface PeerState {
  String executorId();

  /** It listens. */
  record On(PeerAddress address) implements PeerState {
    @Override
    public String executorId() {
      return address.name();
    }
  }

  /**
   * It has RDMA off, or has not announced itself.
   *
   * @param detail its reason, or that it is not known
   */
  record Off(String executorId, String detail) implements PeerState {}
}
