package dev.verbatim.shuffle.registry;

import dev.verbatim.shuffle.reader.MapOutputLocation;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

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
  private final Map<Long, Integer> positions = new HashMap<>();

  /** Map outputs whose executor is lost: no record of them will come any more. */
  private final Set<Long> lost = new HashSet<>();

  /** A record that came already is not added again. */
  void add(MapOutputLocation output) {
    if (output.equals(get(output.mapId()))) {
      return;
    }
    Integer former = positions.put(output.mapId(), log.size());
    if (former != null) {
      log.set(former, null);
    }
    log.add(output);
  }

  /** Whether there is nothing to wait for. */
  boolean settled(long mapId) {
    return positions.containsKey(mapId) || lost.contains(mapId);
  }

  /** Null when there is none. */
  MapOutputLocation get(long mapId) {
    Integer position = positions.get(mapId);
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

  void removeExecutor(String executorId) {
    for (int i = 0; i < log.size(); i++) {
      MapOutputLocation output = log.get(i);
      if (output != null && output.executorId().equals(executorId)) {
        log.set(i, null);
        positions.remove(output.mapId());
        lost.add(output.mapId());
      }
    }
  }

  /** Records held. */
  int size() {
    return positions.size();
  }
}
