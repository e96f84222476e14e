package dev.verbatim.bench.registry;

import java.lang.management.ManagementFactory;

/** Bytes of the heap that are reachable. */
final class UsedHeap {
  private UsedHeap() {}

  /** After full collections, the second of which finds what the first one's cleaners let go. */
  static long now() throws InterruptedException {
    for (int i = 0; i < 2; i++) {
      System.gc();
      Thread.sleep(200);
    }
    return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
  }
}
