package dev.verbatim.transport.measure;

import dev.verbatim.transport.BufferSlice;
import dev.verbatim.transport.EndpointBuffer;
import dev.verbatim.transport.EndpointException;
import dev.verbatim.transport.EndpointGroup;
import dev.verbatim.transport.EndpointListener;
import dev.verbatim.transport.RdmaEndpoint;
import dev.verbatim.transport.RegistrationException;
import dev.verbatim.transport.RemoteMemory;
import dev.verbatim.transport.WorkCompletion;
import dev.verbatim.transport.WorkOperation;
import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * One queue pair of a measurement: posts the next message when one has ended. Messages end in the
 * order in which they were posted.
 */
final class MeasureLane implements EndpointListener, AutoCloseable {
  private static final long PATIENCE_SECONDS = 10;

  /** Ids of what is posted beside the measured messages. */
  private static final int ANSWER = -1;

  private static final int CHECK = -2;

  private static final int CREDIT = -3;

  private final EndpointGroup group;
  private final MeasureConfig config;
  private final EndpointBuffer buffer;
  private final BufferSlice all;
  private final CompletableFuture<WorkCompletion> checked = new CompletableFuture<>();
  private final long[] postedNanos;
  private RdmaEndpoint endpoint;
  private RemoteMemory memory;
  private long credit;

  // Below: guarded by this.
  private MeasureRun run;
  private Exception failure; // before there was a run
  private int oldest;
  private int underWay;

  /** Messages that the server has receives for. */
  private long free = Long.MAX_VALUE;

  private boolean used; // others may have posted all messages before this one began
  private boolean ended = true;
  private boolean closing;

  MeasureLane(EndpointGroup group, MeasureConfig config) throws RegistrationException {
    this.group = group;
    this.config = config;
    this.postedNanos = new long[config.depth()];
    this.buffer = group.allocate(config.bytes());
    this.all = buffer.all();
    if (config.operation() != MeasuredOperation.READ) {
      MeasureProtocol.fill(buffer.segment());
    }
  }

  void connect(InetSocketAddress server) throws EndpointException, InterruptedException {
    byte[] request = MeasureProtocol.request(config.operation(), config.bytes());
    long millis = config.patience().toMillis();
    CompletableFuture<RdmaEndpoint> connecting = group.connect(server, request, this);
    try {
      endpoint = connecting.get(millis, TimeUnit.MILLISECONDS);
    } catch (ExecutionException e) {
      throw new EndpointException(e.getCause().getMessage(), e.getCause());
    } catch (TimeoutException e) {
      throw new EndpointException("no connection to " + server + " in " + millis + " ms", e);
    } finally {
      if (endpoint == null && !connecting.cancel(false)) {
        connecting.thenAccept(RdmaEndpoint::close); // just connected, or failed
      }
    }
    MeasureProtocol.Answer answer =
        MeasureProtocol.readAnswer(endpoint.peerData())
            .orElseThrow(() -> new EndpointException(server + " is no server to measure against"));
    if (config.operation() == MeasuredOperation.PING_PONG && config.depth() > answer.receives()) {
      throw new EndpointException(
          "depth = %d is more than the receiveDepth of %s, %d"
              .formatted(config.depth(), server, answer.receives()));
    }
    memory = answer.memory();
    credit = answer.credit();
    if (config.operation() == MeasuredOperation.SEND) {
      synchronized (this) {
        free = answer.receives();
      }
    }
  }

  @Override
  public void onPrepared(RdmaEndpoint prepared) {
    if (config.operation() == MeasuredOperation.PING_PONG) {
      for (int i = 0; i < Math.min(config.depth(), prepared.limits().receiveDepth()); i++) {
        expect(prepared, ANSWER);
      }
    } else if (config.operation() == MeasuredOperation.SEND) {
      for (int i = 0; i < MeasureProtocol.CREDITS; i++) {
        expect(prepared, CREDIT);
      }
    }
  }

  /** Empty messages too have room: siw refuses a receive that has none. */
  private void expect(RdmaEndpoint from, int id) {
    try {
      from.receive(id, all);
    } catch (EndpointException e) {
      failed(e);
    }
  }

  /** Posts as many messages as may be under way. */
  synchronized void begin(MeasureRun next) {
    run = next;
    ended = false;
    if (failure != null) {
      run.failed(failure);
      return;
    }
    postMore();
  }

  private void postMore() {
    long now = System.nanoTime();
    try {
      while (underWay < config.depth() && free > 0 && run.claim(now)) {
        postedNanos[(oldest + underWay) % postedNanos.length] = now;
        underWay++;
        free--;
        post();
        now = System.nanoTime();
      }
    } catch (EndpointException | RuntimeException e) {
      failed(e);
      return;
    }
    if (underWay == 0 && free > 0 && !ended) {
      ended = true;
      run.laneEnded();
    }
  }

  private void post() throws EndpointException {
    switch (config.operation()) {
      case READ -> endpoint.read(0, memory, all);
      case WRITE -> endpoint.write(0, memory, all);
      case SEND, PING_PONG -> endpoint.send(0, all);
    }
  }

  @Override
  public void onCompletion(RdmaEndpoint from, WorkCompletion completion) {
    if (completion.id() == CHECK) {
      checked.complete(completion);
    } else if (!completion.succeeded()) {
      failed(new EndpointException(completion.describe()));
    } else if (completion.id() == CREDIT) {
      expect(from, CREDIT);
      credited();
    } else if (config.operation() != MeasuredOperation.PING_PONG) {
      messageEnded(1);
    } else if (completion.operation() == WorkOperation.RECEIVE) {
      expect(from, ANSWER);
      messageEnded(2);
    }
  }

  private synchronized void messageEnded(int ways) {
    long now = System.nanoTime();
    run.record((now - postedNanos[oldest]) / ways, now);
    oldest = oldest + 1 == postedNanos.length ? 0 : oldest + 1;
    underWay--;
    used = true;
    postMore();
  }

  private synchronized void credited() {
    free += credit;
    if (run != null) {
      postMore();
    }
  }

  private synchronized void failed(Exception why) {
    if (run == null) {
      failure = why;
    } else if (!closing) {
      run.failed(why);
    }
  }

  @Override
  public void onClosed(RdmaEndpoint from, String reason) {
    failed(new EndpointException(reason));
    checked.completeExceptionally(new EndpointException(reason));
  }

  /** Compares the bytes of the last messages, if there were any, with those that were sent. */
  void check() throws EndpointException, RegistrationException, InterruptedException {
    synchronized (this) {
      if (!used) {
        return;
      }
    }
    switch (config.operation()) {
      case READ, PING_PONG -> compare(buffer);
      case WRITE -> {
        try (EndpointBuffer back = group.allocate(config.bytes())) {
          endpoint.read(CHECK, memory, back.all());
          long millis = config.patience().toMillis();
          WorkCompletion completion = checked.get(millis, TimeUnit.MILLISECONDS);
          if (!completion.succeeded()) {
            throw new EndpointException(completion.describe());
          }
          compare(back);
        } catch (ExecutionException | TimeoutException e) {
          throw new EndpointException("what was written cannot be read: " + e, e);
        }
      }
      case SEND -> {}
    }
  }

  private void compare(EndpointBuffer with) throws EndpointException {
    long wrong = MeasureProtocol.firstWrong(with.segment());
    if (wrong >= 0) {
      throw new EndpointException(
          "byte %d of a %s of %d bytes is not what was sent"
              .formatted(wrong, config.operation(), config.bytes()));
    }
  }

  /** Disconnects and frees the buffer. */
  @Override
  public void close() {
    synchronized (this) {
      closing = true;
    }
    if (endpoint != null) {
      endpoint.close();
      endpoint.closed().completeOnTimeout(null, PATIENCE_SECONDS, TimeUnit.SECONDS).join();
    }
    buffer.close();
  }
}
