package dev.verbatim.bench.registry;

import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.lang.management.MemoryUsage;
import java.util.Objects;

/** Bytes of the heap that are reachable. */
final class UsedHeap {
  private UsedHeap() {}

  /**
   * What was left by a full collection, after another one whose cleaners have had time. Not what is
   * used now: any thread that has allocated a byte since has a buffer of its own, and all of it
   * counts, up to some megabytes.
   */
  static long now() throws InterruptedException {
    System.gc();
    Thread.sleep(200);
    System.gc();
    return ManagementFactory.getMemoryPoolMXBeans().stream()
        .filter(pool -> pool.getType() == MemoryType.HEAP)
        .map(MemoryPoolMXBean::getCollectionUsage)
        .filter(Objects::nonNull)
        .mapToLong(MemoryUsage::getUsed)
        .sum();
  }
}
