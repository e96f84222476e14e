package dev.verbatim.transport;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * One RDMA port of this process: listener, connections, registered memory, completion poller.
 *
 * <p>Thread-safe. After {@link #close()} every method but {@code close}, {@link #info()} and {@link
 * #counters()} throws {@link IllegalStateException}.
 */
public final class RdmaTransport implements AutoCloseable {

  /**
   * Opens the port that the configuration names, or the best one: active, and with an address.
   *
   * @throws IllegalArgumentException when a value of the configuration is out of its range
   */
  public static OpenResult open(TransportConfig config) {
    throw new UnsupportedOperationException();
  }

  public TransportInfo info() {
    throw new UnsupportedOperationException();
  }

  /** Whether the port is {@code PORT_ACTIVE} now, as far as asynchronous events have told. */
  public boolean portActive() {
    throw new UnsupportedOperationException();
  }

  /** Tells of each change between active and not active; called on the event thread. */
  public void onPortChange(Consumer<Boolean> listener) {
    throw new UnsupportedOperationException();
  }

  /**
   * Registers fresh anonymous memory, zeroed.
   *
   * @param bytes from 1; rounded up to whole pages
   */
  public MemoryRegion allocate(long bytes) throws RegistrationException {
    throw new UnsupportedOperationException();
  }

  /**
   * Maps and registers the first {@code length} bytes of a file, in several regions where the
   * device has a smaller limit; their order is the file's. All but the last are of the same length.
   *
   * @param mode not {@link FilePinMode#COPY}
   */
  public List<MemoryRegion> registerFile(Path file, long length, FilePinMode mode)
      throws RegistrationException {
    throw new UnsupportedOperationException();
  }

  /** Finds by trying on a small temporary file how files in a directory may be registered. */
  public FilePinMode probe(Path directory) {
    throw new UnsupportedOperationException();
  }

  /** A buffer of the pool, or empty when its limit is reached. Never blocks. */
  public Optional<ReadBuffer> tryAcquire(long bytes) {
    throw new UnsupportedOperationException();
  }

  /**
   * The connection to a peer, made when there is none. Never blocks; fails with {@link
   * ConnectException} within the connect timeout, and at once while a peer's back-off lasts or the
   * port is not active.
   */
  public CompletableFuture<PeerConnection> connect(PeerAddress peer) {
    throw new UnsupportedOperationException();
  }

  /** Closes the connection to a peer that is known to be gone; its batches fail. */
  public void disconnect(String peerName) {
    throw new UnsupportedOperationException();
  }

  public TransportCounters counters() {
    throw new UnsupportedOperationException();
  }

  /** Ends all connections and batches, deregisters everything, joins all threads. Idempotent. */
  @Override
  public void close() {
    throw new UnsupportedOperationException();
  }
}
