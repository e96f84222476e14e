package dev.verbatim.shuffle.registry;

import dev.verbatim.shuffle.metrics.CounterSnapshot;
import dev.verbatim.shuffle.reader.MapOutputLocation;
import dev.verbatim.shuffle.reader.PeerState;
import dev.verbatim.transport.PeerAddress;
import java.util.List;

/** What executors and the driver's registry say to each other. */
sealed interface Message {

  /** Executor to driver, answered by {@link Welcome}: a first greeting. */
  record Hello(String executorId) implements Message {}

  /**
   * The application's secret, which peers prove to each other when they connect.
   *
   * @param token random bytes
   */
  record Welcome(byte[] token) implements Message {}

  /**
   * Executor to driver, answered by {@link Taken}: how it is equipped. May come more than once.
   *
   * @param listener how peers connect to it, under its own name; null when RDMA is off
   * @param device and port, for people; empty when RDMA is off
   * @param mode all of what it runs on, or why RDMA is off
   */
  record Announce(String executorId, PeerAddress listener, String device, String mode)
      implements Message {}

  /**
   * Executor to driver, answered by {@link Taken}: map outputs, registered or declined. May come
   * more than once.
   */
  record Publish(List<Entry> entries) implements Message {
    record Entry(int shuffleId, MapOutputLocation output) {}
  }

  /**
   * An {@link Announce} or {@link Publish} has arrived.
   *
   * @param gone shuffles that are no more: their records were not kept
   */
  record Taken(List<Integer> gone) implements Message {}

  /** Executor to driver, no answer: its cumulative counters. */
  record Report(String executorId, CounterSnapshot counters) implements Message {}

  /**
   * Executor to driver, answered by {@link Table} or {@link Shared}: the records of a shuffle from
   * a position on.
   *
   * @param shareable whether the answer may be {@link Shared}
   */
  record Sync(int shuffleId, int position, boolean shareable) implements Message {
    Sync(int shuffleId, int position) {
      this(shuffleId, position, true);
    }

    /** The same question, to be answered with the records themselves. */
    Sync unshared() {
      return new Sync(shuffleId, position, false);
    }
  }

  /**
   * Where the records of a large table are for all executors, as encoded {@link Table}s.
   *
   * @param reference what {@link SharedTable#reference} told
   * @param position to go on from
   * @param more whether there are records from there on
   */
  record Shared(byte[] reference, int position, boolean more) implements Message {}

  /**
   * Executor to driver, answered by {@link Table} with the records of these map outputs only, as
   * soon as all are there or the time to hold the answer back is over.
   */
  record Await(int shuffleId, String executorId, long[] mapIds) implements Message {}

  /**
   * Records of a shuffle.
   *
   * @param gone there is no such shuffle any more
   * @param position to go on from
   * @param more whether there are records from there on
   * @param peers executors of the records, and the one that was asked for
   */
  record Table(
      boolean gone,
      int position,
      boolean more,
      List<PeerState> peers,
      List<MapOutputLocation> outputs)
      implements Message {}
}
