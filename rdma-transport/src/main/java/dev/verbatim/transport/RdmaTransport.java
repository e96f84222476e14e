package dev.verbatim.transport;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/**
 * One RDMA port of this process: listener, connections, registered memory, completion poller.
 *
 * <p>Thread-safe. After {@link #close()} every method but {@code close}, {@link #info()}, {@link
 * #self()}, {@link #portActive()}, {@link #deviceFailure()} and {@link #counters()} throws {@link
 * IllegalStateException}.
 */
public final class RdmaTransport implements AutoCloseable {
  private final TransportParts parts;
  private final AtomicBoolean closed = new AtomicBoolean();

  RdmaTransport(TransportParts parts) {
    this.parts = parts;
  }

  /**
   * Opens the port that the configuration names, or the best one: active, and with an address.
   *
   * @param config may be set anew for something else afterwards
   * @throws IllegalArgumentException when a value of the configuration is out of its range
   */
  public static OpenResult open(TransportConfig config) {
    return TransportOpener.open(config);
  }

  public TransportInfo info() {
    return parts.info();
  }

  /** How peers reach this process; to be told to processes of the application alone. */
  public PeerAddress self() {
    return parts.self();
  }

  /** Whether the port is {@code PORT_ACTIVE} now, as far as asynchronous events have told. */
  public boolean portActive() {
    return !closed.get() && parts.monitor().isActive();
  }

  /** Why the device is lost for this process; empty while it is not. */
  public Optional<String> deviceFailure() {
    return Optional.ofNullable(parts.monitor().failure());
  }

  /** Tells of each change between active and not active; called on the event thread. */
  public void onPortChange(Consumer<Boolean> listener) {
    checkOpen();
    parts.monitor().onChange(listener);
  }

  /**
   * Registers fresh anonymous memory, zeroed.
   *
   * @param bytes from 1; rounded up to whole pages
   */
  public MemoryRegion allocate(long bytes) throws RegistrationException {
    checkOpen();
    return parts.memory().allocate(bytes);
  }

  /**
   * Maps and registers the first {@code length} bytes of a file, in several regions where the
   * device has a smaller limit; their order is the file's. All but the last are of the same length.
   *
   * @param length bytes, from 1
   * @param mode not {@link FilePinMode#COPY}
   */
  public List<MemoryRegion> registerFile(Path file, long length, FilePinMode mode)
      throws RegistrationException {
    checkOpen();
    return parts.memory().registerFile(file, length, mode);
  }

  /** Finds by trying on a small temporary file how files in a directory may be registered. */
  public FilePinMode probe(Path directory) {
    checkOpen();
    return parts.memory().probe(directory);
  }

  /**
   * A buffer of the pool, or empty when its limit is reached. Does not wait for others to release
   * buffers, but takes milliseconds when the pool must grow.
   *
   * @param bytes from 1
   */
  public Optional<ReadBuffer> tryAcquire(long bytes) {
    checkOpen();
    return parts.pool().tryAcquire(bytes);
  }

  /**
   * The connection to a peer, made when there is none. Never blocks; fails with {@link
   * ConnectException} within the connect timeout, and at once while a peer's back-off lasts or the
   * port is not active. What is chained to the future runs on the event thread: it must not block.
   */
  public CompletableFuture<PeerConnection> connect(PeerAddress peer) {
    checkOpen();
    return parts.connector().connect(peer);
  }

  /** Closes the connection to a peer that is known to be gone; its batches fail. */
  public void disconnect(String peerName) {
    checkOpen();
    parts
        .connector()
        .disconnect(
            peerName,
            ReadFailure.Kind.DISCONNECTED,
            "the peer " + peerName + " is known to be gone");
  }

  /**
   * Opens a group of endpoints on this port, for messages, WRITEs and atomic operations beside
   * READs: with a protection domain, a completion queue and a poller of its own.
   *
   * @param config may be set anew for something else afterwards
   * @throws IllegalArgumentException when a value of the configuration is out of its range
   * @throws EndpointException when the device allows less than is asked for, or has no room
   */
  public EndpointGroup openGroup(EndpointConfig config) throws EndpointException {
    checkOpen();
    return parts.groups().open(config);
  }

  public TransportCounters counters() {
    return parts.counters();
  }

  /**
   * Ends all connections and batches, deregisters everything, joins all threads. Idempotent. Called
   * by a listener on one of the transport's own threads, it goes on after the listener has
   * returned.
   */
  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      if (parts.isOwnThread()) {
        Thread.ofPlatform().daemon(true).name("verbatim-close").start(parts::close);
      } else {
        parts.close();
      }
    }
  }

  private void checkOpen() {
    if (closed.get()) {
      throw new IllegalStateException("the transport is closed");
    }
  }
}
