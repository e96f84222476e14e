package dev.verbatim.transport;

import dev.verbatim.verbs.VerbsException;
import dev.verbatim.verbs.WcStatus;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One end of a reliable connection with one queue pair: posts requests and has their ends told to
 * its {@link EndpointListener}. Thread-safe.
 *
 * <p>Posting never blocks. A request that was posted ends once; one whose posting threw was not
 * posted. Requests run in the order in which they were posted, except that a READ or an atomic
 * operation may still be under way when a SEND or WRITE behind it has begun.
 *
 * <p>Each posting method throws
 *
 * <ul>
 *   <li>{@link EndpointException} when the endpoint is not connected, or not any more, or the
 *       device refuses the request;
 *   <li>{@link IllegalStateException} when the queue is full: wait for a completion, or raise the
 *       depth in {@link EndpointConfig}; or when a buffer is closed;
 *   <li>{@link IllegalArgumentException} when there are more slices or bytes than {@link #limits}
 *       allows, or a buffer is of another group;
 *   <li>{@link IndexOutOfBoundsException} when the peer's memory is shorter than the request.
 * </ul>
 */
public final class RdmaEndpoint implements AutoCloseable {
  /** In the low half of a work request's number: it is a receive. */
  private static final int RECEIVE = Integer.MIN_VALUE;

  private static final Logger LOG = LoggerFactory.getLogger(RdmaEndpoint.class);

  private final EndpointGroup group;
  private final EndpointListener listener;
  private final int key;
  private final InetSocketAddress peer;
  private final CompletableFuture<Void> closed = new CompletableFuture<>();
  private final Object lock = new Object();

  // Guarded by the lock.
  private final PostedRequests sends;
  private final PostedRequests receives;
  private WorkRequests requests;
  private boolean ready;
  private String cause;

  // The poller's: the peer's messages may come before RDMA CM has told of the connection.
  private final List<WorkCompletion> early = new ArrayList<>();
  private boolean listening;

  private volatile EndpointLimits limits;
  private volatile boolean open;
  private volatile byte[] peerData = {};
  private volatile Runnable tearDown = () -> {};

  /**
   * @param key of this endpoint in the group's table
   */
  RdmaEndpoint(EndpointGroup group, EndpointListener listener, int key, InetSocketAddress peer) {
    this.group = group;
    this.listener = listener;
    this.key = key;
    this.peer = peer;
    this.limits = group.limits();
    this.sends = new PostedRequests(limits.sendDepth());
    this.receives = new PostedRequests(limits.receiveDepth());
  }

  /** Sends a message, of no bytes without slices, into the peer's oldest receive. */
  public void send(long id, BufferSlice... data) throws EndpointException {
    post(id, WorkRequest.send(data));
  }

  /**
   * Sends a message with four more bytes, which the completion of the peer's receive carries.
   *
   * @param immediate arrives as the same number, whatever the peer's byte order
   * @throws EndpointException also where the device takes no immediate data, as most of iWARP do
   *     not
   */
  public void sendWithImmediate(long id, int immediate, BufferSlice... data)
      throws EndpointException {
    post(id, WorkRequest.send(immediate, data));
  }

  /** Writes to memory of the peer, which is not told. */
  public void write(long id, RemoteMemory to, BufferSlice... data) throws EndpointException {
    post(id, WorkRequest.write(to, data));
  }

  /**
   * Writes to memory of the peer and tells it by using up its oldest receive, whose completion
   * carries the number.
   *
   * @throws EndpointException also where the device takes no immediate data, as most of iWARP do
   *     not
   */
  public void writeWithImmediate(long id, int immediate, RemoteMemory to, BufferSlice... data)
      throws EndpointException {
    post(id, WorkRequest.write(immediate, to, data));
  }

  /** Reads memory of the peer, which is not told. */
  public void read(long id, RemoteMemory from, BufferSlice... room) throws EndpointException {
    post(id, WorkRequest.read(from, room));
  }

  /**
   * Adds to eight bytes of the peer, a number in the byte order of the peer's device, which is that
   * of its processor, atomically to other such operations of the device.
   *
   * @param word aligned to 8 bytes
   * @param before 8 bytes that receive the value before, in this processor's byte order
   */
  public void fetchAndAdd(long id, RemoteMemory word, long add, BufferSlice before)
      throws EndpointException {
    post(id, WorkRequest.fetchAndAdd(word, add, before));
  }

  /**
   * Replaces eight bytes of the peer if they are as expected, as {@link #fetchAndAdd}; whether they
   * were, the value before tells.
   *
   * @param word aligned to 8 bytes
   * @param before 8 bytes that receive the value before
   */
  public void compareAndSwap(
      long id, RemoteMemory word, long expected, long desired, BufferSlice before)
      throws EndpointException {
    post(id, WorkRequest.compareAndSwap(word, expected, desired, before));
  }

  private void post(long id, WorkRequest request) throws EndpointException {
    check(request.slices(), request.length());
    if (request.operation() == WorkOperation.READ
        && request.slices().length > limits.readSlices()) {
      throw new IllegalArgumentException(
          "%d slices are more than the device's max_sge_rd, %d, of a READ"
              .formatted(request.slices().length, limits.readSlices()));
    }
    if (request.remote() != null && request.length() > request.remote().length()) {
      throw new IndexOutOfBoundsException(
          request.operation() + " of " + request.length() + " bytes: " + request.remote());
    }
    if (request.operation().isAtomic() && !limits.atomics()) {
      throw new EndpointException(
          "the device has no atomic operations (atomic_cap is IBV_ATOMIC_NONE)");
    }
    synchronized (lock) {
      if (!ready || cause != null) {
        throw notConnected();
      }
      if (sends.isFull()) {
        throw full("sendDepth", sends);
      }
      int sequence = sends.add(id, request.operation());
      try {
        requests.postSend(number(sequence), request);
      } catch (VerbsException e) {
        sends.undoAdd();
        throw new EndpointException(e.getMessage(), e);
      } catch (RuntimeException | Error e) {
        sends.undoAdd();
        throw e;
      }
    }
  }

  /**
   * Gives memory for one message of the peer, or for the notice of one WRITE with immediate data,
   * which needs no slices. The oldest receive is used first. Allowed from {@link
   * EndpointListener#onPrepared} on.
   */
  public void receive(long id, BufferSlice... room) throws EndpointException {
    check(room, WorkRequest.bytes(room));
    synchronized (lock) {
      if (requests == null || cause != null) {
        throw notConnected();
      }
      if (receives.isFull()) {
        throw full("receiveDepth", receives);
      }
      int sequence = receives.add(id, WorkOperation.RECEIVE);
      try {
        requests.postReceive(number(sequence | RECEIVE), room);
      } catch (VerbsException e) {
        receives.undoAdd();
        throw new EndpointException(e.getMessage(), e);
      } catch (RuntimeException | Error e) {
        receives.undoAdd();
        throw e;
      }
    }
  }

  private long number(int low) {
    return (long) key << 32 | low & 0xffff_ffffL;
  }

  private void check(BufferSlice[] slices, long length) {
    EndpointLimits most = limits;
    if (slices.length > most.slices()) {
      throw new IllegalArgumentException(
          slices.length + " slices are more than " + most.slices() + ", EndpointConfig's slices");
    }
    if (length > most.messageBytes()) {
      throw new IllegalArgumentException(
          length + " bytes are more than the port's longest message, " + most.messageBytes());
    }
    for (BufferSlice slice : slices) {
      if (!slice.buffer().isOf(group)) {
        throw new IllegalArgumentException("a buffer is of another group of endpoints");
      }
    }
  }

  private EndpointException notConnected() {
    return new EndpointException(
        cause == null ? "the endpoint is not connected yet" : "the endpoint is closed: " + cause);
  }

  private static IllegalStateException full(String name, PostedRequests queue) {
    return new IllegalStateException(
        "the queue is full: %s = %d requests have not ended; wait for a completion or raise %s"
            .formatted(name, queue.depth(), name));
  }

  /** What this endpoint takes; once it is connected, what the device has granted. */
  public EndpointLimits limits() {
    return limits;
  }

  /** Requests other than receives that have not ended. */
  public int sendsUnderWay() {
    synchronized (lock) {
      return sends.count();
    }
  }

  /** Receives that have not been used. */
  public int receivesPosted() {
    synchronized (lock) {
      return receives.count();
    }
  }

  /** Whether requests can be posted. */
  public boolean isOpen() {
    return open;
  }

  /** The peer's address; its port is that of the listener where this side has connected. */
  public InetSocketAddress peer() {
    return peer;
  }

  /**
   * What the peer sent when it connected or accepted; RDMA CM may have padded it with zeros, to 56
   * and 196 bytes. Empty until the endpoint is connected, in {@link EndpointListener#onPrepared}
   * too.
   */
  public byte[] peerData() {
    return peerData.clone();
  }

  /** Done when nothing more comes, after {@link EndpointListener#onClosed}. */
  public CompletableFuture<Void> closed() {
    return closed.copy();
  }

  /**
   * Ends the connection and returns; requests that are under way end as flushed. Idempotent. {@link
   * #closed()} tells when all is over.
   */
  @Override
  public void close() {
    fail("closed by this side");
  }

  /** Ends the connection; its requests are told, and then its listener, on the poller's thread. */
  void fail(String why) {
    synchronized (lock) {
      failLocked(why);
    }
  }

  private void failLocked(String why) {
    if (cause == null) {
      cause = why;
      open = false;
      try {
        group.execute(tearDown);
      } catch (RuntimeException | Error e) { // its link will see to it
        WakeUp.say(e, LOG, "An endpoint's end is put off");
      }
    }
  }

  /**
   * The queue pair exists, and receives may be posted.
   *
   * @param granted bytes that may travel in a request
   */
  void prepared(WorkRequests fresh, int granted) {
    synchronized (lock) {
      requests = fresh;
      limits = limits.withInlineBytes(granted);
    }
    tell(() -> listener.onPrepared(this));
  }

  /**
   * Before anything can fail.
   *
   * @param end ends the connection; called once, on the event thread
   */
  void onTearDown(Runnable end) {
    tearDown = end;
  }

  /**
   * The queue pair is connected.
   *
   * @param from the peer's private data, or null where they are known already
   */
  void connected(byte[] from) {
    if (from != null) {
      peerData = from;
    }
    synchronized (lock) {
      ready = true;
      open = cause == null;
    }
    group.executeOnPoller(this::tellEarly);
  }

  private void tellEarly() {
    listening = true;
    for (WorkCompletion completion : early) {
      tell(() -> listener.onCompletion(this, completion));
    }
    early.clear();
  }

  /**
   * Takes a completion; called by the poller.
   *
   * @param low half of the work request's number
   */
  void completed(int ofKey, int low, WorkEnd end) {
    WorkCompletion completion;
    synchronized (lock) {
      PostedRequests queue = low < 0 ? receives : sends;
      if (ofKey != key || !queue.isOldest(low & ~RECEIVE)) {
        return;
      }
      completion = end.of(queue.oldestId(), queue.oldestOperation());
      queue.removeOldest();
      if (!completion.succeeded()) {
        if (completion.status().consequence() == WcStatus.Consequence.DEVICE_FAILED) {
          group.deviceFailed(completion.status().cName());
        }
        failLocked(completion.describe());
      }
    }
    if (listening) {
      tell(() -> listener.onCompletion(this, completion));
    } else {
      early.add(completion);
    }
  }

  /** The queue pair is destroyed and its completions were taken; called by the poller. */
  void retired() {
    tellEarly();
    flush(sends);
    flush(receives);
    String why;
    synchronized (lock) {
      why = cause;
    }
    tell(() -> listener.onClosed(this, why));
    closed.complete(null);
  }

  private void flush(PostedRequests queue) {
    while (true) {
      WorkCompletion completion;
      synchronized (lock) {
        if (queue.count() == 0) {
          return;
        }
        completion = WorkCompletion.flushed(queue.oldestId(), queue.oldestOperation());
        queue.removeOldest();
      }
      tell(() -> listener.onCompletion(this, completion));
    }
  }

  private static void tell(Runnable call) {
    try {
      call.run();
    } catch (Throwable e) {
      WakeUp.say(e, LOG, "A listener of an endpoint failed");
    }
  }

  /** Why it has ended, or null. */
  String cause() {
    synchronized (lock) {
      return cause;
    }
  }

  int key() {
    return key;
  }
}
