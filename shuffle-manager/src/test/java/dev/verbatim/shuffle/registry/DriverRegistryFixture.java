package dev.verbatim.shuffle.registry;

import dev.verbatim.shuffle.fallback.FallbackReason;
import dev.verbatim.shuffle.reader.MapOutputLocation;
import dev.verbatim.shuffle.reader.MapOutputLocation.Declined;
import dev.verbatim.shuffle.registry.Message.Announce;
import dev.verbatim.shuffle.registry.Message.Publish;
import dev.verbatim.shuffle.registry.Message.Table;
import dev.verbatim.transport.PeerAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;

/** A driver's registry that knows two executors: RDMA is on in the first one alone. */
@Timeout(30)
abstract class DriverRegistryFixture {
  final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();

  /** Shuffles that Spark has. */
  final Set<Integer> live = new HashSet<>(Set.of(5, 6));

  final DriverRegistry registry = new DriverRegistry(Duration.ofSeconds(20), timer, live::contains);
  final List<Table> answers = new ArrayList<>();

  @BeforeEach
  void announce() {
    registry.announce(new Announce("1", peer("1"), "rxe0 port 1", "RDMA on: rxe0"));
    registry.announce(new Announce("2", null, "", "RDMA off: NO_DEVICE"));
  }

  @AfterEach
  void stop() {
    timer.shutdownNow();
  }

  static PeerAddress peer(String name) {
    return new PeerAddress(name, new InetSocketAddress("10.0.0." + name, 7), 9);
  }

  List<Integer> publish(int shuffleId, String executorId, long... mapIds) {
    return registry
        .publish(
            new Publish(
                LongStream.of(mapIds)
                    .mapToObj(id -> new Publish.Entry(shuffleId, output(executorId, id)))
                    .toList()))
        .gone();
  }

  static MapOutputLocation output(String executorId, long mapId) {
    return new Declined(mapId, executorId, FallbackReason.MEMLOCK);
  }

  static List<Long> ids(Table table) {
    return table.outputs().stream().map(MapOutputLocation::mapId).toList();
  }

  /** As Spark does: its own tracker forgets the shuffle first. */
  void remove(int shuffleId) {
    live.remove(shuffleId);
    registry.removeShuffle(shuffleId);
  }
}
