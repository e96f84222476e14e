package dev.verbatim.transport.measure;

import dev.verbatim.transport.BufferSlice;
import dev.verbatim.transport.ConnectionRequest;
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
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The side that is measured against: gives each connection a buffer, takes its messages and answers
 * ping-pongs, until it is closed. Whoever reaches its port can use it, and reach its buffers, which
 * hold nothing else.
 */
public final class MeasureServer implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(MeasureServer.class);

  private final EndpointGroup group;
  private final ExecutorService allocator =
      Executors.newSingleThreadExecutor(
          Thread.ofPlatform().daemon(true).name("verbatim-measure").factory());
  private InetSocketAddress address;

  private MeasureServer(EndpointGroup group) {
    this.group = group;
  }

  /**
   * Begins to listen.
   *
   * @param group whose endpoints serve; stays open when this is closed, and listens on: connections
   *     are refused then
   * @param listenPort 0 lets the system choose
   */
  public static MeasureServer listen(EndpointGroup group, int listenPort) throws EndpointException {
    MeasureServer server = new MeasureServer(group);
    try {
      server.address = group.listen(listenPort, server::onRequest);
      return server;
    } catch (EndpointException | RuntimeException e) {
      server.close();
      throw e;
    }
  }

  /** Where to connect to. */
  public InetSocketAddress address() {
    return address;
  }

  private void onRequest(ConnectionRequest request) {
    try {
      allocator.execute(() -> answer(request)); // registering takes time, this is the event thread
    } catch (RejectedExecutionException e) {
      request.reject("the measuring is over");
    }
  }

  private void answer(ConnectionRequest request) {
    MeasureProtocol.Request wanted =
        MeasureProtocol.readRequest(request.privateData()).orElse(null);
    if (wanted == null) {
      request.reject("not a request to measure, or of another version");
      return;
    }
    EndpointBuffer buffer;
    try {
      buffer = group.allocate(wanted.bytes(), wanted.operation().access());
    } catch (RegistrationException | IllegalStateException e) {
      request.reject("no memory for " + wanted.bytes() + " bytes: " + e.getMessage());
      return;
    }
    MeasureProtocol.fill(buffer.segment());
    RemoteMemory memory = buffer.access().isEmpty() ? new RemoteMemory(0, 0, 0) : buffer.remote();
    MeasureProtocol.Answer answer =
        new MeasureProtocol.Answer(group.limits().receiveDepth(), memory);
    request
        .accept(
            new Served(wanted.operation(), buffer, answer.credit()), MeasureProtocol.answer(answer))
        .whenComplete(
            (endpoint, failure) -> {
              if (failure != null) {
                LOG.debug("{}", failure.toString());
                buffer.close(); // also where there was no endpoint to be closed
              }
            });
  }

  /** Keeps receives posted, and sends back what a ping-pong brings, and credit for SENDs. */
  private static final class Served implements EndpointListener {
    private final MeasuredOperation operation;
    private final EndpointBuffer buffer;
    private final long credit;

    // The poller's.
    private long received;
    private long owed;

    Served(MeasuredOperation operation, EndpointBuffer buffer, long credit) {
      this.operation = operation;
      this.buffer = buffer;
      this.credit = credit;
    }

    @Override
    public void onPrepared(RdmaEndpoint endpoint) {
      if (operation.usesReceives()) {
        for (int i = 0; i < endpoint.limits().receiveDepth(); i++) {
          receive(endpoint);
        }
      }
    }

    @Override
    public void onCompletion(RdmaEndpoint endpoint, WorkCompletion completion) {
      if (!completion.succeeded()) {
        return;
      }
      if (completion.operation() == WorkOperation.RECEIVE) {
        receive(endpoint);
        if (operation == MeasuredOperation.PING_PONG) {
          send(endpoint, buffer.all());
        } else if (++received % credit == 0) {
          owed++;
        }
      }
      while (owed > 0 && endpoint.sendsUnderWay() < sends(endpoint)) {
        owed--;
        send(endpoint);
      }
    }

    private static void send(RdmaEndpoint endpoint, BufferSlice... data) {
      try {
        endpoint.send(0, data);
      } catch (EndpointException e) {
        LOG.debug("{}", e.getMessage());
      } catch (IllegalStateException e) {
        LOG.warn("A ping-pong of more than {} at a time ends: {}", sends(endpoint), e.toString());
        endpoint.close();
      }
    }

    private static int sends(RdmaEndpoint endpoint) {
      return endpoint.limits().sendDepth();
    }

    private void receive(RdmaEndpoint endpoint) {
      try {
        endpoint.receive(0, buffer.all());
      } catch (EndpointException e) {
        LOG.debug("{}", e.getMessage()); // closed meanwhile
      }
    }

    @Override
    public void onClosed(RdmaEndpoint endpoint, String reason) {
      LOG.debug("{}", reason);
      buffer.close();
    }
  }

  /** Takes no more connections; those that there are stay until the peer or the group closes. */
  @Override
  public void close() {
    allocator.close();
  }
}
