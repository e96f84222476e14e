package dev.verbatim.shuffle.registry;

import dev.verbatim.shuffle.registry.Message.Await;
import dev.verbatim.shuffle.registry.Message.Table;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ScheduledFuture;
import java.util.function.Consumer;

/**
 * Questions whose answers are held back. Each is kept under one map output that it misses, so that
 * a record is the matter of those alone who wait for it: with many executors there are far too many
 * to look at each of them for each record. Not thread-safe.
 */
final class HeldQuestions {
  /** A question of an executor and how it is answered. */
  static final class Held {
    final Await question;
    final Consumer<Table> reply;
    ScheduledFuture<?> deadline;

    /** In the question's map outputs: there is nothing to wait for of those before. */
    int position;

    Held(Await question, Consumer<Table> reply) {
      this.question = question;
      this.reply = reply;
    }

    private long missing() {
      return question.mapIds()[position];
    }
  }

  private final Map<Integer, Map<Long, Set<Held>>> byShuffle = new HashMap<>();

  /** Keeps it under the map output at its position. */
  void hold(Held held) {
    byShuffle
        .computeIfAbsent(held.question.shuffleId(), key -> new HashMap<>())
        .computeIfAbsent(held.missing(), key -> new LinkedHashSet<>())
        .add(held);
  }

  boolean isEmpty() {
    return byShuffle.isEmpty();
  }

  /** Those that are kept under a map output; they are held no more. */
  Collection<Held> take(int shuffleId, long mapId) {
    Map<Long, Set<Held>> byMap = byShuffle.get(shuffleId);
    Set<Held> taken = byMap == null ? null : byMap.remove(mapId);
    if (taken == null) {
      return List.of();
    }
    if (byMap.isEmpty()) {
      byShuffle.remove(shuffleId);
    }
    return taken;
  }

  /** Those of a shuffle; they are held no more. */
  Collection<Held> takeShuffle(int shuffleId) {
    Map<Long, Set<Held>> byMap = byShuffle.remove(shuffleId);
    return byMap == null ? List.of() : flat(byMap.values());
  }

  /** All; they are held no more. */
  Collection<Held> takeAll() {
    List<Held> all = new ArrayList<>();
    byShuffle.values().forEach(byMap -> all.addAll(flat(byMap.values())));
    byShuffle.clear();
    return all;
  }

  /** Whether it was held. */
  boolean remove(Held held) {
    Map<Long, Set<Held>> byMap = byShuffle.get(held.question.shuffleId());
    Set<Held> others = byMap == null ? null : byMap.get(held.missing());
    if (others == null || !others.remove(held)) {
      return false;
    }
    if (others.isEmpty()) {
      take(held.question.shuffleId(), held.missing());
    }
    return true;
  }

  private static List<Held> flat(Collection<Set<Held>> sets) {
    return sets.stream().flatMap(Set::stream).toList();
  }
}
