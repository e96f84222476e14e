package dev.verbatim.transport;

import dev.verbatim.device.GidInfo;
import dev.verbatim.device.PortInfo;
import dev.verbatim.device.RdmaDevices;
import dev.verbatim.verbs.IbvContext;
import dev.verbatim.verbs.RdmaEventChannel;
import dev.verbatim.verbs.Sockaddr;
import dev.verbatim.verbs.VerbsException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.security.SecureRandom;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The parts of one transport, wired together: made in order, ended in reverse order. What the
 * public {@link RdmaTransport} does with them is its own matter.
 */
final class TransportParts implements PortMonitor.Actions {
  private static final Duration JOIN_TIMEOUT = Duration.ofSeconds(10);

  private static final Logger LOG = LoggerFactory.getLogger(TransportParts.class);

  private final TransportConfig config;
  private final OpenPort port;
  private final MemorySegment channel;
  private final RdmaDevices devices;
  private final PortSelector.Choice choice;
  private final Arena arena = Arena.ofShared();

  private final Counters counters = new Counters();
  private final Memlock memlock;
  private final Registrar registrar;
  private final Mappings mappings;
  private final MemoryManager memory;
  private final BufferPool pool;
  private final SendQueueTable<PeerConnection> table;
  private final PortMonitor monitor;
  private final CmEndpoints endpoints;
  private final long challenge;
  private final Handshake handshake;
  private final Acceptor acceptor;
  private EventLoop loop;
  private CompletionPoller poller;
  private Connector connector;
  private EndpointGroups groups;
  private Thread loopThread;
  private Thread pollerThread;
  private volatile TransportInfo info;

  TransportParts(
      TransportConfig config,
      OpenPort port,
      MemorySegment channel,
      RdmaDevices devices,
      PortSelector.Choice choice,
      Memlock memlock) {
    this.config = config;
    this.port = port;
    this.channel = RdmaEventChannel.STRUCT.at(channel);
    this.devices = devices;
    this.choice = choice;
    this.memlock = memlock;
    registrar =
        new Registrar(
            port.verbs(),
            port.pd(),
            RegistrationRules.of(choice.device()),
            choice.device().limits().maxMrSize(),
            memlock,
            counters,
            this::memoryIsOutOfReach);
    mappings = new Mappings(port.posix(), MapRoom.ofThisProcess(port.posix()), counters);
    memory =
        new MemoryManager(
            mappings,
            registrar,
            config.hugePages(),
            new NodeMemory(port.posix(), choice.device().numaNode()));
    pool =
        new BufferPool(
            memory::slab,
            Math.min(config.slabBytes(), registrar.mostRegionBytes()),
            config.poolBytes());
    table = new SendQueueTable<>(port.limits().maxConnections());
    monitor = new PortMonitor(port, counters, this, arena);
    endpoints = new CmEndpoints(port.rdmaCm(), this.channel, counters, monitor);
    challenge = new SecureRandom().nextLong();
    handshake = new Handshake(config.applicationToken(), config.localName(), challenge);
    acceptor = new Acceptor(config, port, endpoints, table, handshake, counters, monitor);
  }

  void listen() throws ListenException {
    try (Arena local = Arena.ofConfined()) {
      InetSocketAddress wanted = new InetSocketAddress(choice.address(), config.listenPort());
      int listenPort = acceptor.listen(Sockaddr.allocate(local, wanted));
      info = describe(choice.port(), new InetSocketAddress(choice.address(), listenPort));
    } catch (VerbsException e) {
      throw new ListenException(e);
    }
  }

  void warmUp() throws RegistrationException {
    pool.warmUp();
  }

  /** Starts the threads; from here on the event thread alone touches connections. */
  void start() throws VerbsException {
    loop = new EventLoop(port.posix(), arena);
    poller =
        new CompletionPoller(
            port.verbs(),
            port.posix(),
            port.channel(),
            port.completionQueue(),
            table,
            config.spin(),
            config.readTimeout(),
            why -> loop.execute(() -> monitor.fail(why)),
            Arena.ofAuto()); // a call with memory of a shared arena counts it atomically, twice
    connector =
        new Connector(
            config,
            port,
            loop,
            poller,
            endpoints,
            table,
            handshake,
            pool,
            counters,
            monitor,
            info.address());
    groups =
        new EndpointGroups(
            port,
            loop,
            endpoints,
            monitor,
            counters,
            mappings,
            memlock,
            choice,
            config.hugePages());
    port.posix().setNonBlocking(RdmaEventChannel.FD.get(channel));
    loop.watch(RdmaEventChannel.FD.get(channel), endpoints::drain, _ -> {});
    loop.watch(
        IbvContext.ASYNC_FD.get(port.eventContext()), monitor::drainPortEvents, monitor::fail);
    loop.watch(IbvContext.ASYNC_FD.get(port.context()), monitor::drainQueueEvents, monitor::fail);
    // The port may have gone down before there was a context to be told by.
    if (!devices.describePort(port.context(), port.number()).active()) {
      loop.execute(() -> monitor.down("found so at start"));
    }
    loop.every(connector::tick);
    loop.every(acceptor::tick);
    loop.every(groups::tick);
    loop.every(endpoints::tick);
    loopThread = startThread("verbatim-events-" + info.device(), loop);
    NodeAffinity affinity = new NodeAffinity(port.posix());
    pollerThread =
        startThread(
            "verbatim-poller-" + info.device(),
            () -> {
              affinity.apply(choice.device().numaNode());
              poller.run();
            });
  }

  /**
   * The device is lost, and none of the queue pairs is left by which alone it, or a peer, could
   * reach memory of this protection domain. Whatever it did all the same would meet pages that the
   * kernel keeps for it as long as they are registered, and never those of somebody else.
   */
  private boolean memoryIsOutOfReach() {
    return monitor.failure() != null && counters.queuePairs.get() == 0;
  }

  private static Thread startThread(String name, Runnable body) {
    return Thread.ofPlatform().daemon(true).name(name).start(body);
  }

  TransportInfo info() {
    return info;
  }

  PeerAddress self() {
    return new PeerAddress(config.localName(), info.address(), challenge);
  }

  PortMonitor monitor() {
    return monitor;
  }

  MemoryManager memory() {
    return memory;
  }

  BufferPool pool() {
    return pool;
  }

  EndpointGroups groups() {
    return groups;
  }

  Connector connector() {
    return connector;
  }

  TransportCounters counters() {
    return counters.snapshot(
        monitor.isActive() ? 1 : 0,
        monitor.failure() == null ? 0 : 1,
        pool.totalBytes(),
        pool.usedBytes());
  }

  /** Whether the calling thread is one of the transport's, which cannot wait for its own end. */
  boolean isOwnThread() {
    Thread current = Thread.currentThread();
    return current == loopThread
        || current == pollerThread
        || groups != null && groups.isOwnThread();
  }

  @Override
  public void portDown(ReadFailure.Kind kind, String why) {
    connector.failAll(kind, "the own port of " + info.device() + " is not active: " + why);
    acceptor.closeAll();
    groups.failAll("the own port of " + info.device() + " is not active: " + why);
  }

  @Override
  public void portUp() {
    endpoints.destroyParked();
    connector.portUp();
    addressChanged();
  }

  @Override
  public void addressChanged() {
    try {
      PortInfo fresh = devices.describePort(port.context(), port.number());
      info = describe(fresh, info.address());
    } catch (VerbsException e) {
      LOG.warn("The port's attributes cannot be read: {}", e.getMessage());
    }
  }

  @Override
  public void queuePairFailed(long address, String why) {
    CmEndpoint endpoint = endpoints.ofQueuePair(address);
    if (endpoint != null
        && !groups.failIfOwn(endpoint, why)
        && !acceptor.closeIfAccepted(endpoint)) {
      connector.failEndpoint(endpoint, why);
    }
  }

  @Override
  public boolean ownsCompletionQueue(long address) {
    return groups.ownsCompletionQueue(address);
  }

  private TransportInfo describe(PortInfo state, InetSocketAddress address) {
    GidInfo gid = PortSelector.gid(state, address.getAddress()).orElse(null);
    return new TransportInfo(
        choice.device().name(),
        port.number(),
        state.link().label(),
        gid == null ? -1 : gid.index(),
        gid == null ? "" : gid.gid(),
        address,
        state.activeMtu(),
        port.limits().initiatorDepth(),
        choice.device().numaNode());
  }

  /** Ends everything in reverse order; called once. */
  void close() {
    if (closeAllButChannel()) {
      port.rdmaCm().destroyEventChannel(channel);
    }
  }

  /**
   * The channel stays the caller's, who destroys it after this.
   *
   * @return whether nothing uses the channel any more
   */
  boolean closeAllButChannel() {
    if (connector != null) {
      connector.close();
    }
    if (loopThread != null) {
      groups.close();
    }
    boolean ended = true;
    if (loopThread != null) {
      loop.execute(
          () -> {
            try {
              connector.failAll(ReadFailure.Kind.DISCONNECTED, "the transport is closed");
            } finally {
              acceptor.close();
            }
          });
      loop.stop();
      ended = Threads.join(loopThread, JOIN_TIMEOUT);
    } else {
      acceptor.close();
    }
    if (ended) { // or else they are that thread's still
      ended = connector == null || connector.tearDownRest();
      endpoints.destroyParked();
    }
    if (pollerThread != null) {
      poller.stop();
      ended &= Threads.join(pollerThread, JOIN_TIMEOUT);
    }
    if (!ended) {
      LOG.warn("A thread or a connection of the transport does not end; what it uses stays open");
      return false;
    }
    pool.close();
    registrar.close();
    port.close();
    if (loop != null) {
      loop.close();
    }
    if (poller != null) {
      poller.close();
    }
    Mappings.release(arena);
    return true;
  }
}
