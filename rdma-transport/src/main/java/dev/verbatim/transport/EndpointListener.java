package dev.verbatim.transport;

/**
 * Is told what happens at an endpoint. Its methods must not block: all endpoints of the group wait
 * meanwhile. They may post further requests, and close the endpoint. What they throw is logged.
 */
@FunctionalInterface
public interface EndpointListener {
  /**
   * The endpoint exists and is not connected yet: the moment to post receives, so that none is
   * missing when the peer's first message comes. Called on the transport's event thread.
   */
  default void onPrepared(RdmaEndpoint endpoint) {}

  /**
   * A request has ended, well or not: each one that was posted is told once, those of a connection
   * that has ended too, and none before the endpoint is connected or has failed. Called on the
   * group's poller thread; requests of a kind, the receives and all others, come in the order in
   * which they were posted.
   */
  void onCompletion(RdmaEndpoint endpoint, WorkCompletion completion);

  /**
   * The endpoint is closed, by the peer, by the program or by a failure, that of connecting
   * included; nothing comes after it. Called on the group's poller thread. That a peer's host has
   * vanished without a word is only found out by a request to it.
   *
   * @param reason for people
   */
  default void onClosed(RdmaEndpoint endpoint, String reason) {}
}
