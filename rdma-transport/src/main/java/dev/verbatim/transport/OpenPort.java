package dev.verbatim.transport;

import dev.verbatim.verbs.IbvContext;
import dev.verbatim.verbs.NativeLibraries;
import dev.verbatim.verbs.Posix;
import dev.verbatim.verbs.RdmaCm;
import dev.verbatim.verbs.Verbs;
import dev.verbatim.verbs.VerbsException;
import java.lang.foreign.MemorySegment;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a transport shares among its connections: the device's context, one protection domain, one
 * completion queue with its channel. The context belongs to RDMA CM and stays open.
 */
final class OpenPort implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(OpenPort.class);

  private final NativeLibraries.Loaded libraries;
  private final MemorySegment context;
  private final int number;
  private final QueueLimits limits;
  private MemorySegment eventContext = MemorySegment.NULL;
  private MemorySegment pd = MemorySegment.NULL;
  private MemorySegment channel = MemorySegment.NULL;
  private MemorySegment completionQueue = MemorySegment.NULL;

  private OpenPort(
      NativeLibraries.Loaded libraries, MemorySegment context, int number, QueueLimits limits) {
    this.libraries = libraries;
    this.context = IbvContext.STRUCT.at(context);
    this.number = number;
    this.limits = limits;
  }

  static OpenPort open(
      NativeLibraries.Loaded libraries, MemorySegment context, int number, QueueLimits limits)
      throws VerbsException {
    OpenPort port = new OpenPort(libraries, context, number, limits);
    try {
      port.openResources();
      return port;
    } catch (VerbsException | RuntimeException e) {
      port.close();
      throw e;
    }
  }

  /**
   * Another protection domain and completion queue of the same port, to be closed by themselves.
   *
   * @param completionEntries of the queue
   */
  OpenPort beside(int completionEntries) throws VerbsException {
    OpenPort port = new OpenPort(libraries, context, number, limits);
    try {
      port.openQueue(completionEntries);
      return port;
    } catch (VerbsException | RuntimeException e) {
      port.close();
      throw e;
    }
  }

  private void openResources() throws VerbsException {
    Verbs verbs = libraries.verbs();
    // RDMA CM's context is shared by all of the process, and an event is told once: a context of
    // our own makes sure that it is told to us.
    eventContext = IbvContext.STRUCT.at(verbs.openDevice(IbvContext.DEVICE.get(context)));
    openQueue(limits.completionEntries());
    libraries.posix().setNonBlocking(IbvContext.ASYNC_FD.get(context));
    libraries.posix().setNonBlocking(IbvContext.ASYNC_FD.get(eventContext));
  }

  private void openQueue(int completionEntries) throws VerbsException {
    Verbs verbs = libraries.verbs();
    pd = verbs.allocPd(context);
    channel = verbs.createCompChannel(context);
    // Processes of one host spread over the device's interrupts.
    int vectors = Math.max(1, IbvContext.NUM_COMP_VECTORS.get(context));
    int vector = (int) (ProcessHandle.current().pid() % vectors);
    completionQueue =
        verbs.createCq(context, completionEntries, MemorySegment.NULL, channel, vector);
  }

  Verbs verbs() {
    return libraries.verbs();
  }

  RdmaCm rdmaCm() {
    return libraries.rdmaCm();
  }

  Posix posix() {
    return libraries.posix();
  }

  MemorySegment context() {
    return context;
  }

  /** Tells of the port and the device; {@link #context} tells of queues. NULL of one beside. */
  MemorySegment eventContext() {
    return eventContext;
  }

  /** From 1. */
  int number() {
    return number;
  }

  QueueLimits limits() {
    return limits;
  }

  MemorySegment pd() {
    return pd;
  }

  MemorySegment channel() {
    return channel;
  }

  MemorySegment completionQueue() {
    return completionQueue;
  }

  /** After all queue pairs and memory regions. */
  @Override
  public void close() {
    completionQueue = free(completionQueue, libraries.verbs()::destroyCq);
    channel = free(channel, libraries.verbs()::destroyCompChannel);
    pd = free(pd, libraries.verbs()::deallocPd);
    eventContext = free(eventContext, libraries.verbs()::closeDevice);
  }

  private interface Destroyer {
    void destroy(MemorySegment object) throws VerbsException;
  }

  private static MemorySegment free(MemorySegment object, Destroyer destroyer) {
    if (object.address() != 0) {
      try {
        destroyer.destroy(object);
      } catch (VerbsException e) {
        LOG.warn("{}", e.getMessage());
      }
    }
    return MemorySegment.NULL;
  }
}
