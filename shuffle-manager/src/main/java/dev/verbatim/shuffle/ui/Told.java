package dev.verbatim.shuffle.ui;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Rows that the event log has, as they are there. Not thread-safe. */
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
   * @param most how many at most; once these are told, the next call answers others
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
    return changed;
  }

  /** Keys of rows that were told of and are no more. */
  List<K> forgotten(List<R> now) {
    Map<K, R> byKey = byKey(now);
    return rows.keySet().stream().filter(id -> !byKey.containsKey(id)).toList();
  }

  /** The log has these now. */
  void tell(List<R> changed, List<K> forgotten) {
    for (R row : changed) {
      rows.remove(key.apply(row));
      rows.put(key.apply(row), row);
    }
    forgotten.forEach(rows::remove);
  }

  private Map<K, R> byKey(List<R> now) {
    return now.stream().collect(Collectors.toMap(key, Function.identity()));
  }
}
