package dev.verbatim.shuffle.registry;

import dev.verbatim.shuffle.metrics.CounterSnapshot;
import dev.verbatim.shuffle.reader.MapOutputLocation;
import dev.verbatim.shuffle.reader.PeerState;
import dev.verbatim.shuffle.registry.Message.Announce;
import dev.verbatim.shuffle.registry.Message.Hello;
import dev.verbatim.shuffle.registry.Message.Publish;
import dev.verbatim.shuffle.registry.Message.Report;
import dev.verbatim.shuffle.registry.Message.Shared;
import dev.verbatim.shuffle.registry.Message.Sync;
import dev.verbatim.shuffle.registry.Message.Table;
import dev.verbatim.shuffle.registry.Message.Taken;
import dev.verbatim.shuffle.registry.Message.Welcome;
import dev.verbatim.transport.PeerAddress;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.spark.rpc.RpcEndpointRef;
import org.apache.spark.rpc.RpcTimeout;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.concurrent.duration.FiniteDuration;
import scala.jdk.javaapi.FutureConverters;
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;

/** An executor's side of the conversation with the registry. Thread-safe. */
public final class DriverLink {
  private static final Logger LOG = LoggerFactory.getLogger(DriverLink.class);
  private static final ClassTag<byte[]> BYTES = ClassTag$.MODULE$.apply(byte[].class);

  private final RpcEndpointRef driver;
  private final String executorId;
  private final Duration patience;
  private final RpcTimeout timeout;
  private final MessageCodec codec = new MessageCodec();

  /**
   * @param patience longest wait for an answer
   */
  public DriverLink(RpcEndpointRef driver, String executorId, Duration patience) {
    this.driver = driver;
    this.executorId = executorId;
    this.patience = patience;
    this.timeout =
        new RpcTimeout(
            new FiniteDuration(patience.toMillis(), TimeUnit.MILLISECONDS),
            "spark.shuffle.rdma.registry.timeout");
  }

  public String executorId() {
    return executorId;
  }

  /**
   * Greets the driver.
   *
   * @return the application's secret
   * @throws IOException when no valid answer came in time
   */
  public byte[] hello() throws IOException {
    try {
      return ask(new Hello(executorId), Welcome.class)
          .get(patience.toMillis() * 2, TimeUnit.MILLISECONDS)
          .token();
    } catch (ExecutionException | TimeoutException e) {
      throw new IOException("no answer from " + driver.address() + ": " + e, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    }
  }

  /**
   * Says how this executor is equipped; fails when no valid answer came in time.
   *
   * @param listener null when RDMA is off
   */
  CompletableFuture<Void> announce(PeerAddress listener, String device, String mode) {
    return ask(new Announce(executorId, listener, device, mode), Taken.class)
        .thenApply(taken -> null);
  }

  /** A lost report costs an old counter, until the next one. */
  public void report(CounterSnapshot counters) {
    try {
      driver.send(codec.encode(new Report(executorId, counters)));
    } catch (Throwable e) { // a task's completion listener must not fail by it
      LOG.debug("Could not send to the registry: {}", e.toString());
    }
  }

  /** Shuffles that are no more; fails when no valid answer came in time. */
  CompletableFuture<List<Integer>> publish(Publish records) {
    return ask(records, Taken.class).thenApply(Taken::gone);
  }

  /** An answer that is shared is fetched; where that fails the driver is asked for a copy. */
  CompletableFuture<Table> askTable(Message question) {
    return ask(question)
        .thenCompose(
            answer ->
                switch (answer) {
                  case Table table -> CompletableFuture.completedFuture(table);
                  case Shared shared when question instanceof Sync sync -> fetch(shared, sync);
                  case Message other -> throw unexpected(other);
                });
  }

  private CompletableFuture<Table> fetch(Shared shared, Sync question) {
    CompletableFuture<Table> fetched =
        CompletableFuture.supplyAsync(() -> read(shared), DriverLink::onItsOwnThread);
    return fetched
        .orTimeout(patience.toMillis(), TimeUnit.MILLISECONDS)
        .exceptionallyCompose(
            error -> {
              LOG.warn("A table that is shared did not come, the driver sends it: {}", "" + error);
              return askTable(question.unshared());
            });
  }

  /** Happens once for each large shuffle, and may wait for other executors. */
  private static void onItsOwnThread(Runnable task) {
    Thread.ofPlatform().daemon().name("verbatim-table").start(task);
  }

  private Table read(Shared shared) {
    List<PeerState> peers = new ArrayList<>();
    List<MapOutputLocation> outputs = new ArrayList<>();
    for (byte[] chunk : SparkBroadcasts.read(shared.reference())) {
      try {
        Table part = (Table) codec.decode(chunk);
        peers.addAll(part.peers());
        outputs.addAll(part.outputs());
      } catch (MalformedMessageException e) {
        throw new IllegalStateException(e);
      }
    }
    return new Table(false, shared.position(), shared.more(), peers, outputs);
  }

  private <A extends Message> CompletableFuture<A> ask(Message question, Class<A> type) {
    return ask(question)
        .thenApply(
            answer -> {
              if (type.isInstance(answer)) {
                return type.cast(answer);
              }
              throw unexpected(answer);
            });
  }

  private static IllegalStateException unexpected(Message answer) {
    return new IllegalStateException("unexpected " + answer.getClass().getName());
  }

  private CompletableFuture<Message> ask(Message question) {
    CompletableFuture<Message> answer = new CompletableFuture<>();
    try {
      FutureConverters.<byte[]>asJava(driver.ask(codec.encode(question), timeout, BYTES))
          .whenComplete(
              (bytes, error) -> {
                try {
                  if (error != null) {
                    answer.completeExceptionally(error);
                  } else {
                    answer.complete(codec.decode(bytes));
                  }
                } catch (MalformedMessageException | RuntimeException | Error e) {
                  answer.completeExceptionally(e);
                }
              });
    } catch (Throwable e) { // whoever waits for the answer goes on
      answer.completeExceptionally(e);
    }
    return answer;
  }
}
