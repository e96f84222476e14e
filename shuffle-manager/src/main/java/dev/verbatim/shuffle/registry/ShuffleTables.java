package dev.verbatim.shuffle.registry;

import dev.verbatim.shuffle.metrics.ShuffleOutputs;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntPredicate;

/** The tables of Spark's shuffles, and what is told of those that are removed. Not thread-safe. */
final class ShuffleTables {
  /** Removed shuffles that are told of. */
  static final int MOST_ENDED = 1000;

  private final IntPredicate live;
  private final Map<Integer, ShuffleTable> tables = new HashMap<>();

  /** Shuffles that were removed last, in the order of that. */
  private final LinkedHashMap<Integer, ShuffleOutputs> ended = new LinkedHashMap<>();

  /**
   * @param live whether Spark has this shuffle now
   */
  ShuffleTables(IntPredicate live) {
    this.live = live;
  }

  boolean isLive(int shuffleId) {
    return live.test(shuffleId);
  }

  /** Null when it has no records. */
  ShuffleTable get(int shuffleId) {
    return tables.get(shuffleId);
  }

  /** Made if it is not there; null when Spark has no such shuffle: nobody would remove it. */
  ShuffleTable open(int shuffleId) {
    if (!live.test(shuffleId)) {
      return null;
    }
    ShuffleTable table = tables.get(shuffleId);
    if (table == null) {
      // Spark's cleaner tells of a removal first and then has its tracker forget the shuffle: of
      // records that came in between nobody would tell again.
      for (int id : List.copyOf(tables.keySet())) {
        if (!live.test(id)) {
          remove(id);
        }
      }
      ended.remove(shuffleId);
      table = new ShuffleTable();
      tables.put(shuffleId, table);
    }
    return table;
  }

  void remove(int shuffleId) {
    ShuffleTable table = tables.remove(shuffleId);
    if (table != null) {
      table.forgetAnswers();
      ended.put(shuffleId, table.outputs().ended());
      if (ended.size() > MOST_ENDED) {
        ended.pollFirstEntry();
      }
    }
  }

  /** What is told about executors has changed. */
  void forgetAnswers() {
    tables.values().forEach(ShuffleTable::forgetAnswers);
  }

  void removeExecutor(String executorId) {
    tables.values().forEach(table -> table.removeExecutor(executorId));
  }

  /** Of those removed too. */
  Map<Integer, ShuffleOutputs> outputs() {
    Map<Integer, ShuffleOutputs> outputs = new HashMap<>(ended);
    tables.forEach((id, table) -> outputs.put(id, table.outputs()));
    return outputs;
  }

  int records() {
    return tables.values().stream().mapToInt(ShuffleTable::size).sum();
  }
}
