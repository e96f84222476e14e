package dev.verbatim.bench.registry;

import dev.verbatim.shuffle.metrics.ShuffleCounters;
import dev.verbatim.shuffle.reader.MapOutputLocation;
import dev.verbatim.shuffle.registry.DriverLink;
import dev.verbatim.shuffle.registry.OutputPublisher;
import dev.verbatim.transport.PeerAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadLocalRandom;
import org.apache.spark.rpc.RpcEndpointRef;

/**
 * Executors whose map tasks take their time and end one by one: each tells the driver of its map
 * outputs as the product does, by the product's own publisher.
 */
final class PacedExecutors {
  private static final int CORES = 4;
  private static final int MILLIS = 50;

  private final RpcEndpointRef registry;
  private final ScheduledExecutorService timer = Executors.newScheduledThreadPool(2);
  private final List<OutputPublisher> publishers = new ArrayList<>();

  PacedExecutors(RpcEndpointRef registry) {
    this.registry = registry;
  }

  /** Returns when all map tasks have ended; the last records may be on their way. */
  void run(int shuffleId, SimulatedShuffle shuffle) throws InterruptedException {
    while (publishers.size() < shuffle.executors()) {
      publishers.add(publisher(SimulatedShuffle.executorId(publishers.size())));
    }
    List<Callable<Void>> work = new ArrayList<>();
    try (ExecutorService cores = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int executor = 0; executor < shuffle.executors(); executor++) {
        OutputPublisher publisher = publishers.get(executor);
        Queue<MapOutputLocation> tasks = new ConcurrentLinkedQueue<>(shuffle.records(executor));
        for (int core = 0; core < CORES; core++) {
          work.add(() -> runTasks(shuffleId, tasks, publisher));
        }
      }
      cores.invokeAll(work).forEach(Future::resultNow);
    }
  }

  private OutputPublisher publisher(String executorId) {
    OutputPublisher publisher =
        new OutputPublisher(
            new DriverLink(registry, executorId, Duration.ofMinutes(1)),
            new ShuffleCounters(),
            timer,
            Duration.ofMillis(5),
            Duration.ofSeconds(2),
            Duration.ofHours(1));
    InetSocketAddress address = new InetSocketAddress("10.0.0.1", 4791);
    publisher.announce(new PeerAddress(executorId, address, 42), "", "simulated");
    return publisher;
  }

  private static Void runTasks(
      int shuffleId, Queue<MapOutputLocation> tasks, OutputPublisher publisher)
      throws InterruptedException {
    for (MapOutputLocation output = tasks.poll(); output != null; output = tasks.poll()) {
      publisher.mapTaskBegins(shuffleId);
      Thread.sleep(ThreadLocalRandom.current().nextInt(MILLIS / 2, 3 * MILLIS / 2));
      publisher.mapTaskEnds(shuffleId);
      publisher.publish(shuffleId, output, () -> {});
    }
    return null;
  }
}
