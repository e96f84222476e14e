package dev.verbatim.shuffle.doctor;

/**
 * An executor as it tells the others of itself, to be READ from.
 *
 * @param absent why it cannot be; empty where it can
 * @param address of its listener
 * @param port of its listener
 * @param iova address of the memory to READ
 */
public record Peer(
    String executor,
    String host,
    String absent,
    String linkLayer,
    String address,
    int port,
    long challenge,
    long iova,
    int rkey) {

  String name() {
    return executor + "@" + host;
  }
}
