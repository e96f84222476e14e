package dev.verbatim.shuffle.ui;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Rows that events have told of, as they were then. Not thread-safe. */
final class Told<K, R> {
  private final Function<R, K> key;

  /** Told longest ago first. */
  private final Map<K, R> rows = new LinkedHashMap<>();

  Told(Function<R, K> key) {
    this.key = key;
  }

  /**
   * Rows that are to be told now: new ones, and then changed ones that were told longest ago.
   *
   * @param most how many at most; the next call answers the others
   */
  List<R> changed(List<R> now, int most) {
    List<R> changed = new ArrayList<>();
    for (R row : now) {
      if (changed.size() < most && !rows.containsKey(key.apply(row))) {
        changed.add(row);
      }
    }
    Map<K, R> byKey = byKey(now);
    rows.forEach(
        (id, before) -> {
          R row = byKey.get(id);
          if (changed.size() < most && row != null && !row.equals(before)) {
            changed.add(row);
          }
        });
    for (R row : changed) {
      rows.remove(key.apply(row));
      rows.put(key.apply(row), row);
    }
    return changed;
  }

  /** Keys of rows that were told of and are no more. */
  List<K> forgotten(List<R> now) {
    Map<K, R> byKey = byKey(now);
    List<K> forgotten = rows.keySet().stream().filter(id -> !byKey.containsKey(id)).toList();
    forgotten.forEach(rows::remove);
    return forgotten;
  }

  private Map<K, R> byKey(List<R> now) {
    return now.stream().collect(Collectors.toMap(key, Function.identity()));
  }
}
