package dev.verbatim.shuffle.registry;

import dev.verbatim.shuffle.metrics.ShuffleOutputs;
import dev.verbatim.shuffle.reader.MapOutputLocation;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import scala.collection.mutable.LongMap;

/**
 * The driver's records of one shuffle: a log that only grows, so that an executor can go on from
 * the position it knows. Records of lost executors leave holes. Not thread-safe.
 */
final class ShuffleTable {
  /** Records per answer: far below the smallest frame limit of Spark's RPC, 1 MiB. */
  static final int CHUNK = 8192;

  /** A part of the log. */
  record Chunk(List<MapOutputLocation> outputs, int position, boolean more) {}

  private final List<MapOutputLocation> log = new ArrayList<>();

  /** By map. There is an entry for each record, so it costs no object more than it must. */
  private final LongMap<Integer> positions = new LongMap<>();

  /** Map outputs whose executor is lost: no record of them will come any more. */
  private final Set<Long> lost = new HashSet<>();

  private final OutputTally tally = new OutputTally();

  /** Answers by the position that they start from. */
  private final Map<Integer, Answer> answers = new HashMap<>();

  private record Answer(int end, boolean more, byte[] bytes) {}

  /** The first records as all executors get them; null if they do not. */
  private Sharing sharing;

  /** Records up to a position, as soon as they are shared. */
  record Sharing(int end, CompletableFuture<SharedTable> table, Executor threads) {}

  /** A record that came already is not added again. */
  void add(MapOutputLocation output) {
    if (output.equals(get(output.mapId()))) {
      return;
    }
    Integer former = positions.getOrNull(output.mapId());
    if (former != null) {
      tally.remove(log.set(former, null));
      forgetAnswers();
    }
    tally.add(output);
    positions.update(output.mapId(), Integer.valueOf(log.size())); // or else ambiguous
    log.add(output);
  }

  /** Whether there is nothing to wait for. */
  boolean settled(long mapId) {
    return positions.contains(mapId) || lost.contains(mapId);
  }

  /** Null when there is none. */
  MapOutputLocation get(long mapId) {
    Integer position = positions.getOrNull(mapId);
    return position == null ? null : log.get(position);
  }

  Chunk from(int position) {
    int start = Math.clamp(position, 0, log.size());
    int end = Math.min(start + CHUNK, log.size());
    List<MapOutputLocation> outputs = new ArrayList<>(end - start);
    for (MapOutputLocation output : log.subList(start, end)) {
      if (output != null) {
        outputs.add(output);
      }
    }
    return new Chunk(outputs, end, end < log.size());
  }

  /**
   * The answer to who asks from a position. Executors ask for the same ones, at about the same time
   * and each for all: they are made once.
   */
  byte[] answer(int position, Supplier<byte[]> make) {
    int end = Math.min(position + CHUNK, log.size());
    boolean more = end < log.size();
    if (position < 0 || position >= end || position % CHUNK != 0) {
      return make.get();
    }
    Answer kept = answers.get(position);
    if (kept == null || kept.end() != end || kept.more() != more) {
      kept = new Answer(end, more, make.get());
      answers.put(position, kept);
    }
    return kept.bytes();
  }

  /**
   * The table as it is shared, from the start up to about where it is now; shared if it is not.
   *
   * @param chunk makes the answer from a position on
   * @param threads shares it, since that may take its time
   * @return null if that is not worth it, or cannot be done
   */
  Sharing shared(TableSharing how, IntFunction<byte[]> chunk, Executor threads) {
    if (sharing == null || log.size() >= 2 * sharing.end()) {
      List<byte[]> chunks = new ArrayList<>();
      long bytes = 0;
      for (int position = 0; position < log.size(); position += CHUNK) {
        chunks.add(chunk.apply(position));
        bytes += chunks.getLast().length;
      }
      if (bytes < how.leastBytes()) {
        return null;
      }
      endSharing();
      sharing =
          new Sharing(
              log.size(), CompletableFuture.supplyAsync(() -> how.share(chunks), threads), threads);
    }
    return sharing.table().isCompletedExceptionally() ? null : sharing;
  }

  private void endSharing() {
    if (sharing != null) {
      sharing.table().thenAcceptAsync(SharedTable::close, sharing.threads());
      sharing = null;
    }
  }

  /** When what is told about executors has changed, or this table is not needed any more. */
  void forgetAnswers() {
    answers.clear();
    endSharing();
  }

  void removeExecutor(String executorId) {
    int before = size();
    for (int i = 0; i < log.size(); i++) {
      MapOutputLocation output = log.get(i);
      if (output != null && output.executorId().equals(executorId)) {
        tally.remove(log.set(i, null));
        positions.subtractOne(output.mapId());
        lost.add(output.mapId());
      }
    }
    if (size() != before) {
      forgetAnswers();
    }
  }

  /** What the records held tell in all. */
  ShuffleOutputs outputs() {
    return tally.outputs();
  }

  /** Position after the last record. */
  int length() {
    return log.size();
  }

  /** Records held. */
  int size() {
    return positions.size();
  }
}
