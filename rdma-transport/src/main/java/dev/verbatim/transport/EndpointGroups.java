package dev.verbatim.transport;

import dev.verbatim.verbs.VerbsException;
import java.net.InetAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * The groups of endpoints of a transport: what they share with it, its event thread and its port,
 * and what it tells them.
 */
final class EndpointGroups {
  private final OpenPort port;
  private final EventLoop loop;
  private final CmEndpoints endpoints;
  private final PortMonitor monitor;
  private final Counters counters;
  private final Mappings mappings;
  private final Memlock memlock;
  private final PortSelector.Choice choice;
  private final boolean hugePages;
  private final List<EndpointGroup> groups = new CopyOnWriteArrayList<>();
  private boolean closed;

  EndpointGroups(
      OpenPort port,
      EventLoop loop,
      CmEndpoints endpoints,
      PortMonitor monitor,
      Counters counters,
      Mappings mappings,
      Memlock memlock,
      PortSelector.Choice choice,
      boolean hugePages) {
    this.port = port;
    this.loop = loop;
    this.endpoints = endpoints;
    this.monitor = monitor;
    this.counters = counters;
    this.mappings = mappings;
    this.memlock = memlock;
    this.choice = choice;
    this.hugePages = hugePages;
  }

  synchronized EndpointGroup open(EndpointConfig wanted) throws EndpointException {
    if (closed) {
      throw new IllegalStateException("the transport is closed");
    }
    EndpointConfig config = wanted.copy().conclude();
    EndpointLimits limits =
        EndpointLimits.of(config, choice.device().limits(), choice.port().maxMessageSize());
    OpenPort own = null;
    EndpointGroup group = null;
    try {
      own = port.beside((int) config.completionEntries());
      Registrar registrar =
          new Registrar(
              port.verbs(),
              own.pd(),
              RegistrationRules.of(choice.device()),
              choice.device().limits().maxMrSize(),
              memlock,
              counters,
              () -> monitor.failure() != null && counters.queuePairs.get() == 0);
      NodeMemory node = new NodeMemory(port.posix(), numaNode(config));
      MemoryManager memory = new MemoryManager(mappings, registrar, hugePages, node);
      group = new EndpointGroup(this, config, limits, own, registrar, memory);
      groups.add(group);
      return group;
    } catch (VerbsException e) {
      OpenResult.Unavailable why = Obstacles.ofResources(e, memlock);
      throw new EndpointException(why.seen() + "; " + why.remedy(), e);
    } finally {
      if (group == null && own != null) {
        own.close();
      }
    }
  }

  void forget(EndpointGroup group) {
    groups.remove(group);
  }

  long tick(long now) {
    long wait = Long.MAX_VALUE;
    for (EndpointGroup group : groups) {
      wait = Math.min(wait, group.tick(now));
    }
    return wait;
  }

  /** On the event thread. */
  void failAll(String why) {
    groups.forEach(group -> group.failAll(why));
  }

  /** Whether the endpoint is one of a group's; if so its connection is ended. */
  boolean failIfOwn(CmEndpoint endpoint, String why) {
    return groups.stream().anyMatch(group -> group.failIfOwn(endpoint, why));
  }

  boolean ownsCompletionQueue(long address) {
    return groups.stream().anyMatch(group -> group.port().completionQueue().address() == address);
  }

  /** Closes all groups, while the event thread still runs. */
  void close() {
    synchronized (this) {
      closed = true;
    }
    groups.forEach(EndpointGroup::close);
  }

  void deviceFailed(String why) {
    loop.execute(() -> monitor.fail(why));
  }

  boolean portIsActive() {
    return monitor.isActive();
  }

  boolean isEventThread() {
    return loop.isOwnThread();
  }

  /** Whether the caller is a thread of the transport, which cannot wait for its own end. */
  boolean isOwnThread() {
    return isEventThread() || groups.stream().anyMatch(EndpointGroup::isPollerThread);
  }

  void execute(Runnable task) {
    loop.execute(task);
  }

  CmEndpoints cmEndpoints() {
    return endpoints;
  }

  Counters counters() {
    return counters;
  }

  InetAddress address() {
    return choice.address();
  }

  String device() {
    return choice.device().name();
  }

  /** The node that a group keeps to, -1 for none. */
  int numaNode(EndpointConfig config) {
    return config.numaNode() >= 0 ? config.numaNode() : choice.device().numaNode();
  }

  /** Whether it is done in time; an interrupt is kept for later. */
  static boolean await(CompletableFuture<Void> future, Duration patience) {
    long end = System.nanoTime() + patience.toNanos();
    boolean interrupted = false;
    try {
      while (true) {
        try {
          future.get(end - System.nanoTime(), TimeUnit.NANOSECONDS);
          return true;
        } catch (InterruptedException e) {
          interrupted = true;
        } catch (TimeoutException | ExecutionException e) {
          return false;
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
