package dev.verbatim.transport;

import dev.verbatim.verbs.VerbsException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Endpoints that share a protection domain, a completion queue and the thread that polls it. Memory
 * of one group is out of reach for the connections of another one, and for the transport's own.
 *
 * <p>Thread-safe. Closed with its transport at the latest; after that every method but {@code
 * close}, {@link #limits} and {@link #address} throws {@link IllegalStateException}.
 */
public final class EndpointGroup implements AutoCloseable {
  /** Private data of a request to connect, bytes. */
  public static final int MOST_CONNECT_BYTES = 56;

  /** Private data of an answer, bytes. */
  public static final int MOST_ACCEPT_BYTES = 196;

  static final int MOST_REJECT_BYTES = 148;

  private static final long MOST_WAIT_NANOS = 1_000_000_000L;
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  private static final Logger LOG = LoggerFactory.getLogger(EndpointGroup.class);

  private final EndpointGroups owner;
  private final EndpointConfig config;
  private final EndpointLimits limits;
  private final OpenPort port;
  private final Registrar registrar;
  private final MemoryManager memory;
  private final SendQueueTable<RdmaEndpoint> table;
  private final EndpointPoller poller;
  private final Thread pollerThread;
  private final AtomicBoolean closed = new AtomicBoolean();
  private final CompletableFuture<Void> over = new CompletableFuture<>();

  // Below: the event thread's.
  private final Set<EndpointLink> links = new HashSet<>();
  private final EndpointAcceptor acceptor = new EndpointAcceptor(this);

  /**
   * @param port a protection domain and a completion queue of its own, closed with the group
   */
  EndpointGroup(
      EndpointGroups owner,
      EndpointConfig config,
      EndpointLimits limits,
      OpenPort port,
      Registrar registrar,
      MemoryManager memory)
      throws VerbsException {
    this.owner = owner;
    this.config = config;
    this.limits = limits;
    this.port = port;
    this.registrar = registrar;
    this.memory = memory;
    this.table = new SendQueueTable<>(config.maxEndpoints());
    this.poller = new EndpointPoller(port, table, config, owner::deviceFailed);
    try {
      this.pollerThread = startPoller();
    } catch (Throwable e) { // there may be no thread to be had
      poller.close();
      throw e;
    }
  }

  private Thread startPoller() {
    int node = owner.numaNode(config);
    return Thread.ofPlatform()
        .daemon(true)
        .name("verbatim-endpoints-" + owner.device())
        .start(
            () -> {
              new NodeAffinity(port.posix()).apply(node);
              poller.run();
            });
  }

  /** What endpoints of this group take, as far as the device's limits tell. */
  public EndpointLimits limits() {
    return limits;
  }

  /** The own address, that of the transport's port. */
  public InetAddress address() {
    return owner.address();
  }

  /**
   * Registers fresh memory, zeroed.
   *
   * @param bytes from 1
   * @param access what peers may do with it; nothing when none is named
   */
  public EndpointBuffer allocate(long bytes, MemoryAccess... access) throws RegistrationException {
    checkOpen();
    if (bytes < 1) {
      throw new IllegalArgumentException("bytes = " + bytes + " is out of range: from 1");
    }
    Set<MemoryAccess> rights = EnumSet.noneOf(MemoryAccess.class);
    rights.addAll(Arrays.asList(access));
    MemoryRegion region = memory.allocate(bytes, MemoryAccess.flags(rights));
    return new EndpointBuffer(this, region, Set.copyOf(rights), bytes);
  }

  /**
   * Takes requests of peers from now on, until the group is closed.
   *
   * @param listenPort 0 lets the system choose
   * @param handler answers each request, at once or later; called on the transport's event thread,
   *     where it must not block. While 256 have no answer, further ones are rejected
   * @return the address to connect to
   * @throws EndpointException when the port is taken, the device is lost or the caller interrupted;
   *     then nothing listens
   */
  public InetSocketAddress listen(int listenPort, Consumer<ConnectionRequest> handler)
      throws EndpointException {
    Ranges.check("listenPort", listenPort, 0, 65_535);
    Objects.requireNonNull(handler, "handler");
    checkOpen();
    CompletableFuture<InetSocketAddress> result = new CompletableFuture<>();
    run(
        () -> {
          try {
            checkOpen();
            result.complete(acceptor.listen(listenPort, handler));
          } catch (VerbsException | RuntimeException | Error e) {
            result.completeExceptionally(e);
          }
        });
    try {
      return result.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      throw new EndpointException(
          "cannot listen at %s port %d: %s"
              .formatted(address().getHostAddress(), listenPort, e.getCause().getMessage()),
          e.getCause());
    } catch (TimeoutException e) {
      endListener(result);
      throw new EndpointException("the transport's event thread does not answer", e);
    } catch (InterruptedException e) {
      endListener(result);
      Thread.currentThread().interrupt();
      throw new EndpointException("interrupted while listening", e);
    }
  }

  /** Nobody is told that it listens. */
  private void endListener(CompletableFuture<InetSocketAddress> listening) {
    listening.thenAccept(address -> execute(() -> acceptor.endListener(address)));
  }

  /** The request is accepted, if there is room; the result is told otherwise. */
  EndpointLink accept(
      ConnectionRequest request,
      EndpointListener listener,
      CompletableFuture<RdmaEndpoint> result) {
    EndpointLink link = newLink(request.peer(), listener, result);
    if (link == null) {
      request.rejectNow("the peer has as many endpoints as it may");
    }
    answered(request);
    return link;
  }

  void answered(ConnectionRequest request) {
    acceptor.answered(request);
  }

  /**
   * Connects to a group that listens. Never blocks.
   *
   * @param peer where it listens
   * @param privateData for the peer to know who asks, 56 bytes at most
   * @param listener is told of the endpoint, of one that fails to connect too: its {@code onClosed}
   *     is the last call, unless there was no room for an endpoint and so no call at all
   * @return done when connected; fails with {@link ConnectException} within the connect timeout.
   *     What is chained to it runs on the event thread: it must not block. Cancelling it ends the
   *     connection as soon as there is one
   * @throws IllegalArgumentException when there are too many bytes
   */
  public CompletableFuture<RdmaEndpoint> connect(
      InetSocketAddress peer, byte[] privateData, EndpointListener listener) {
    checkPrivateData(privateData, MOST_CONNECT_BYTES);
    Objects.requireNonNull(listener, "listener");
    if (peer.isUnresolved()) {
      throw new IllegalArgumentException("unresolved peer address " + peer);
    }
    checkOpen();
    byte[] copy = privateData.clone();
    CompletableFuture<RdmaEndpoint> result = new CompletableFuture<>();
    run(
        () -> {
          EndpointLink link = newLink(peer, listener, result);
          if (link != null) {
            link.connect(copy);
          }
        },
        result);
    return result;
  }

  static void checkPrivateData(byte[] data, int most) {
    if (data.length > most) {
      throw new IllegalArgumentException(
          data.length + " bytes of private data are more than RDMA CM carries here, " + most);
    }
  }

  private EndpointLink newLink(
      InetSocketAddress peer, EndpointListener listener, CompletableFuture<RdmaEndpoint> result) {
    String obstacle = null;
    int key = -1;
    if (closed.get()) {
      obstacle = "the group of endpoints is closed";
    } else if (!owner.portIsActive()) {
      obstacle = "the own port is not active";
    } else if ((key = table.reserve()) < 0) {
      obstacle =
          "maxEndpoints = %d endpoints are open; close some or raise it"
              .formatted(config.maxEndpoints());
    }
    if (obstacle != null) {
      String why = "no connection to " + peer + ": " + obstacle;
      result.completeExceptionally(new ConnectException(why));
      return null;
    }
    RdmaEndpoint endpoint = new RdmaEndpoint(this, listener, key, peer);
    EndpointLink link = new EndpointLink(this, endpoint, System.nanoTime());
    table.set(key, endpoint);
    links.add(link);
    link.future()
        .whenComplete(
            (connected, failure) -> {
              if (failure == null) {
                if (!result.complete(connected)) {
                  connected.close(); // its caller has cancelled it, or let it time out
                }
              } else {
                result.completeExceptionally(failure);
              }
            });
    return link;
  }

  /** The endpoint's queue pair is destroyed: what is left of it is told by the poller. */
  void retire(EndpointLink link) {
    RdmaEndpoint endpoint = link.endpoint();
    poller.execute(
        () -> {
          table.release(endpoint.key());
          endpoint.retired();
        });
    links.remove(link); // last: as long as it is here its end is tried again
  }

  void executeOnPoller(Runnable task) {
    poller.execute(task);
  }

  /** Runs a task on the event thread, after the poller has taken the completions of now. */
  void afterCompletions(Runnable task) {
    poller.execute(() -> execute(task));
  }

  /** Runs a task on the event thread, at once if this is it. */
  void run(Runnable task) {
    if (owner.isEventThread()) {
      task.run();
    } else {
      execute(task);
    }
  }

  /** Runs a task that completes the result, which is also done where no event thread is left. */
  void run(Runnable task, CompletableFuture<?> result) {
    run(task);
    if (isClosed()) {
      result.completeExceptionally(new ConnectException("the group of endpoints is closed"));
    }
  }

  /** Runs a task on the event thread, later. */
  void execute(Runnable task) {
    owner.execute(task);
  }

  /** Gives up what takes too long; on the event thread. */
  long tick(long now) {
    long wait = MOST_WAIT_NANOS;
    acceptor.checkDeadlines(now);
    for (EndpointLink link : List.copyOf(links)) {
      link.checkDeadline(now);
      long left = link.deadlineNanos() == Long.MAX_VALUE ? wait : link.deadlineNanos() - now;
      wait = Math.min(wait, Math.max(1_000_000, left));
    }
    return wait;
  }

  /** Ends all connections; on the event thread. */
  void failAll(String why) {
    acceptor.rejectAll(why);
    List.copyOf(links).forEach(link -> link.endpoint().fail(why));
  }

  /** Ends the connection of an endpoint of RDMA CM, if it is one of this group's. */
  boolean failIfOwn(CmEndpoint cm, String why) {
    for (EndpointLink link : links) {
      if (link.isOf(cm)) {
        link.endpoint().fail(why + " at the queue pair");
        return true;
      }
    }
    return false;
  }

  void deviceFailed(String why) {
    owner.deviceFailed(why);
  }

  EndpointConfig config() {
    return config;
  }

  OpenPort port() {
    return port;
  }

  CmEndpoints cmEndpoints() {
    return owner.cmEndpoints();
  }

  Counters counters() {
    return owner.counters();
  }

  boolean isClosed() {
    return closed.get();
  }

  private void checkOpen() {
    if (isClosed()) {
      throw new IllegalStateException("the group of endpoints is closed");
    }
  }

  /**
   * Closes all endpoints and buffers and ends the poller. Idempotent; all that call it return after
   * that is done. But called by a listener, on one of the transport's own threads, it goes on after
   * the listener has returned.
   */
  @Override
  public void close() {
    boolean first = closed.compareAndSet(false, true);
    if (owner.isOwnThread()) {
      if (first) {
        Thread.ofPlatform().daemon(true).name("verbatim-close").start(this::closeNow);
      }
    } else if (first) {
      closeNow();
    } else {
      EndpointGroups.await(over, PATIENCE.multipliedBy(2));
    }
  }

  /** Whether the caller is this group's poller. */
  boolean isPollerThread() {
    return Thread.currentThread() == pollerThread;
  }

  private void closeNow() {
    CompletableFuture<Void> ended = new CompletableFuture<>();
    execute(() -> endAll(ended));
    boolean orderly = EndpointGroups.await(ended, PATIENCE);
    poller.stop();
    orderly &= Threads.join(pollerThread, PATIENCE);
    if (orderly) {
      registrar.close();
      poller.close();
      port.close();
    } else {
      LOG.warn("Endpoints do not end; what they use stays open");
    }
    owner.forget(this);
    over.complete(null);
  }

  private void endAll(CompletableFuture<Void> ended) {
    acceptor.close();
    List<CompletableFuture<Void>> ends = new ArrayList<>();
    links.forEach(link -> ends.add(link.endpoint().closed()));
    failAll("the group of endpoints is closed");
    CompletableFuture.allOf(ends.toArray(CompletableFuture[]::new))
        .whenComplete((_, _) -> ended.complete(null));
  }
}
