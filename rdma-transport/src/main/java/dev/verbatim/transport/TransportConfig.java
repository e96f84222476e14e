package dev.verbatim.transport;

import java.net.InetAddress;
import java.time.Duration;

/**
 * How to open a transport. Setters are fluent; {@link RdmaTransport#open} validates by {@link
 * #conclude()}.
 */
public final class TransportConfig implements Cloneable {
  private String deviceName;
  private int port;
  private InetAddress address;
  private int listenPort;
  private String localName = "";
  private byte[] applicationToken = new byte[0];
  private int readDepth = 16;
  private int qpsPerPeer = 1;
  private int maxConnections = 1024;
  private int trafficClass;
  private Duration connectTimeout = Duration.ofSeconds(5);
  private Duration readTimeout = Duration.ofSeconds(10);
  private Duration idleTimeout = Duration.ofMinutes(5);
  private Duration retryBackoff = Duration.ofSeconds(5);
  private long poolBytes = 512L << 20;
  private int slabBytes = 16 << 20;
  private boolean hugePages = true;
  private Duration spin = Duration.ofNanos(20_000);
  private long maxReadBytes;

  /** Device to use, or null to choose one. */
  public String deviceName() {
    return deviceName;
  }

  public TransportConfig deviceName(String value) {
    deviceName = value;
    return this;
  }

  /** Port of the device from 1, or 0 to choose one. */
  public int port() {
    return port;
  }

  public TransportConfig port(int value) {
    port = value;
    return this;
  }

  /** Address to listen at, which must belong to an RDMA device; null to choose one. */
  public InetAddress address() {
    return address;
  }

  public TransportConfig address(InetAddress value) {
    address = value;
    return this;
  }

  /** Port of the RDMA CM listener; 0 lets the system choose. */
  public int listenPort() {
    return listenPort;
  }

  public TransportConfig listenPort(int value) {
    listenPort = value;
    return this;
  }

  /** This process's name among its peers. */
  public String localName() {
    return localName;
  }

  public TransportConfig localName(String value) {
    localName = value;
    return this;
  }

  /** Secret shared by the application's processes; a peer that does not prove it is refused. */
  public byte[] applicationToken() {
    return applicationToken.clone();
  }

  public TransportConfig applicationToken(byte[] value) {
    applicationToken = value.clone();
    return this;
  }

  /** READs wanted outstanding per queue pair, 1 to 255; the devices' limits are applied. */
  public int readDepth() {
    return readDepth;
  }

  public TransportConfig readDepth(int value) {
    readDepth = value;
    return this;
  }

  /** Queue pairs per peer, 1 to 64. */
  public int qpsPerPeer() {
    return qpsPerPeer;
  }

  public TransportConfig qpsPerPeer(int value) {
    qpsPerPeer = value;
    return this;
  }

  /** Most queue pairs that this process keeps, initiated and accepted. */
  public int maxConnections() {
    return maxConnections;
  }

  public TransportConfig maxConnections(int value) {
    maxConnections = value;
    return this;
  }

  /** IP ToS byte of both sides' packets, 0 to 255; 0 leaves the system's. */
  public int trafficClass() {
    return trafficClass;
  }

  public TransportConfig trafficClass(int value) {
    trafficClass = value;
    return this;
  }

  /** Longest time for a whole connect: address, route, handshake. */
  public Duration connectTimeout() {
    return connectTimeout;
  }

  public TransportConfig connectTimeout(Duration value) {
    connectTimeout = value;
    return this;
  }

  /**
   * Longest time for a batch of READs from posting to completion. The poller looks at batches every
   * 10 ms, when it is idle each twentieth of this time, 10 to 500 ms, and counts from its first
   * look.
   */
  public Duration readTimeout() {
    return readTimeout;
  }

  public TransportConfig readTimeout(Duration value) {
    readTimeout = value;
    return this;
  }

  /**
   * A connection without READs for this long is closed. One that was accepted, whose READs are not
   * seen, is closed after this long when all queue pairs are in use.
   */
  public Duration idleTimeout() {
    return idleTimeout;
  }

  public TransportConfig idleTimeout(Duration value) {
    idleTimeout = value;
    return this;
  }

  /** After a failed connection a peer is not tried again for this long. */
  public Duration retryBackoff() {
    return retryBackoff;
  }

  public TransportConfig retryBackoff(Duration value) {
    retryBackoff = value;
    return this;
  }

  /** Most bytes of the pool of buffers that READs land in. */
  public long poolBytes() {
    return poolBytes;
  }

  public TransportConfig poolBytes(long value) {
    poolBytes = value;
    return this;
  }

  /** Bytes that the pool grows by, a multiple of the page size. */
  public int slabBytes() {
    return slabBytes;
  }

  public TransportConfig slabBytes(int value) {
    slabBytes = value;
    return this;
  }

  /** Whether the pool asks for huge pages first. */
  public boolean hugePages() {
    return hugePages;
  }

  public TransportConfig hugePages(boolean value) {
    hugePages = value;
    return this;
  }

  /** How long the poller spins on an empty completion queue before it blocks. */
  public Duration spin() {
    return spin;
  }

  public TransportConfig spin(Duration value) {
    spin = value;
    return this;
  }

  /** Bytes above which one READ is split; 0 means the port's maximal message size. */
  public long maxReadBytes() {
    return maxReadBytes;
  }

  public TransportConfig maxReadBytes(long value) {
    maxReadBytes = value;
    return this;
  }

  /**
   * Validates all values together.
   *
   * @throws IllegalArgumentException naming the value and its range
   */
  public TransportConfig conclude() {
    Ranges.check("port", port, 0, 255);
    Ranges.check("listenPort", listenPort, 0, 65_535);
    Ranges.check("readDepth", readDepth, 1, 255);
    Ranges.check("qpsPerPeer", qpsPerPeer, 1, 64);
    Ranges.check("maxConnections", maxConnections, qpsPerPeer, 1 << 20);
    Ranges.check("trafficClass", trafficClass, 0, 255);
    Ranges.check("connectTimeout", connectTimeout, Duration.ofMillis(1), Duration.ofHours(1));
    Ranges.check("readTimeout", readTimeout, Duration.ofMillis(1), Duration.ofHours(1));
    Ranges.check("idleTimeout", idleTimeout, Duration.ofMillis(1), Duration.ofDays(365));
    Ranges.check("retryBackoff", retryBackoff, Duration.ZERO, Duration.ofDays(1));
    Ranges.check("spin", spin, Duration.ZERO, Duration.ofSeconds(1));
    Ranges.check("slabBytes", slabBytes, 1, 1 << 30);
    Ranges.check("poolBytes", poolBytes, slabBytes, Long.MAX_VALUE >> 1);
    Ranges.check("maxReadBytes", maxReadBytes, 0, 1L << 31);
    long page = Pages.size();
    if (slabBytes % page != 0) {
      throw new IllegalArgumentException(
          "slabBytes = " + slabBytes + " is not a multiple of the page size, " + page);
    }
    if (address != null && address.isAnyLocalAddress()) {
      throw new IllegalArgumentException(
          "address = " + address.getHostAddress() + " is a wildcard: name one address, or none");
    }
    if (localName == null) {
      throw new IllegalArgumentException("localName is null");
    }
    return this;
  }

  /** As it is now: the caller may go on to set it for something else. */
  TransportConfig copy() {
    try {
      return (TransportConfig) clone();
    } catch (CloneNotSupportedException e) {
      throw new AssertionError("it is Cloneable", e);
    }
  }
}
