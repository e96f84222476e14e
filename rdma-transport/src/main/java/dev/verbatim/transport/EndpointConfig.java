package dev.verbatim.transport;

import java.time.Duration;

/**
 * How to open a group of endpoints. Setters are fluent; {@link RdmaTransport#openGroup} validates
 * by {@link #conclude()} and says where the device allows less.
 */
public final class EndpointConfig implements Cloneable {
  private int maxEndpoints = 16;
  private int sendDepth = 128;
  private int receiveDepth = 128;
  private int slices = 1;
  private int inlineBytes = 64;
  private int readDepth = 16;
  private int rnrRetry = 7;
  private Duration rnrDelay = Duration.ofNanos(640_000);
  private Duration connectTimeout = Duration.ofSeconds(5);
  private Duration peerTimeout = Duration.ofSeconds(5);
  private Duration spin = Duration.ofNanos(20_000);
  private int trafficClass;
  private int numaNode = -1;

  /** Endpoints that may be open at a time, 1 to 65,536; the completion queue has room for all. */
  public int maxEndpoints() {
    return maxEndpoints;
  }

  public EndpointConfig maxEndpoints(int value) {
    maxEndpoints = value;
    return this;
  }

  /** Requests other than receives that one endpoint may have under way, 1 to 65,536. */
  public int sendDepth() {
    return sendDepth;
  }

  public EndpointConfig sendDepth(int value) {
    sendDepth = value;
    return this;
  }

  /** Receives that one endpoint may have posted, 1 to 65,536. */
  public int receiveDepth() {
    return receiveDepth;
  }

  public EndpointConfig receiveDepth(int value) {
    receiveDepth = value;
    return this;
  }

  /** Pieces of memory that one request may gather from or scatter to, 1 to 32. */
  public int slices() {
    return slices;
  }

  public EndpointConfig slices(int value) {
    slices = value;
    return this;
  }

  /**
   * Bytes up to which what is sent or written is copied into the request, 0 to 4,096: it saves the
   * device a read of memory. A wish: {@link RdmaEndpoint#limits} tells what the device grants.
   */
  public int inlineBytes() {
    return inlineBytes;
  }

  public EndpointConfig inlineBytes(int value) {
    inlineBytes = value;
    return this;
  }

  /** READs and atomic operations wanted under way at a time, 1 to 255; devices may allow less. */
  public int readDepth() {
    return readDepth;
  }

  public EndpointConfig readDepth(int value) {
    readDepth = value;
    return this;
  }

  /**
   * How often a peer repeats a message that found no receive posted here, 0 to 7; 7 is for ever. As
   * RDMA CM has it, each side says so of the other one's messages ({@code rdma_connect(3)}). iWARP
   * repeats none: such a message ends the connection.
   */
  public int rnrRetry() {
    return rnrRetry;
  }

  public EndpointConfig rnrRetry(int value) {
    rnrRetry = value;
    return this;
  }

  /**
   * How long a peer waits before it repeats such a message, 10 us to 655.36 ms; devices know steps
   * and take the next longer one.
   */
  public Duration rnrDelay() {
    return rnrDelay;
  }

  public EndpointConfig rnrDelay(Duration value) {
    rnrDelay = value;
    return this;
  }

  /** Longest time for a whole connect, and for answering a request to connect, 1 ms to 1 h. */
  public Duration connectTimeout() {
    return connectTimeout;
  }

  public EndpointConfig connectTimeout(Duration value) {
    connectTimeout = value;
    return this;
  }

  /**
   * About how long a peer's device may be silent before a request fails; devices know powers of two
   * and some have a least one. 1 ms to 1 h; less than 0.1 s counts as that, and more than 30 s as
   * 30 s.
   */
  public Duration peerTimeout() {
    return peerTimeout;
  }

  public EndpointConfig peerTimeout(Duration value) {
    peerTimeout = value;
    return this;
  }

  /** How long the poller spins on an empty completion queue before it blocks, up to 1 s. */
  public Duration spin() {
    return spin;
  }

  public EndpointConfig spin(Duration value) {
    spin = value;
    return this;
  }

  /** IP ToS byte of this side's packets, 0 to 255; 0 leaves the system's. */
  public int trafficClass() {
    return trafficClass;
  }

  public EndpointConfig trafficClass(int value) {
    trafficClass = value;
    return this;
  }

  /**
   * NUMA node whose processors the poller keeps to, as far as the process may use them, and that
   * buffers come from; -1 for the device's own.
   */
  public int numaNode() {
    return numaNode;
  }

  public EndpointConfig numaNode(int value) {
    numaNode = value;
    return this;
  }

  /**
   * Validates all values.
   *
   * @throws IllegalArgumentException naming the value and its range
   */
  public EndpointConfig conclude() {
    Ranges.check("maxEndpoints", maxEndpoints, 1, 1 << 16);
    Ranges.check("sendDepth", sendDepth, 1, 1 << 16);
    Ranges.check("receiveDepth", receiveDepth, 1, 1 << 16);
    Ranges.check("slices", slices, 1, 32);
    Ranges.check("inlineBytes", inlineBytes, 0, 4096);
    Ranges.check("readDepth", readDepth, 1, 255);
    Ranges.check("rnrRetry", rnrRetry, 0, 7);
    Ranges.check("rnrDelay", rnrDelay, RnrDelay.LEAST, RnrDelay.MOST);
    Ranges.check("connectTimeout", connectTimeout, Duration.ofMillis(1), Duration.ofHours(1));
    Ranges.check("peerTimeout", peerTimeout, Duration.ofMillis(1), Duration.ofHours(1));
    Ranges.check("spin", spin, Duration.ZERO, Duration.ofSeconds(1));
    Ranges.check("trafficClass", trafficClass, 0, 255);
    Ranges.check("numaNode", numaNode, -1, 1 << 10);
    return this;
  }

  /** As it is now: the caller may go on to set it for something else. */
  EndpointConfig copy() {
    try {
      return (EndpointConfig) clone();
    } catch (CloneNotSupportedException e) {
      throw new AssertionError("it is Cloneable", e);
    }
  }

  /** Completions that may wait at a time, if all requests of all endpoints end. */
  long completionEntries() {
    return (long) maxEndpoints * (sendDepth + receiveDepth);
  }
}
