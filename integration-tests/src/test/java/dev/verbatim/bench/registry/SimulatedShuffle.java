package dev.verbatim.bench.registry;

import dev.verbatim.shuffle.reader.MapOutputLocation;
import dev.verbatim.shuffle.reader.MapOutputLocation.Registered;
import dev.verbatim.shuffle.reader.MapOutputLocation.RemoteAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.apache.spark.scheduler.MapStatus;
import org.apache.spark.scheduler.MapStatus$;
import org.apache.spark.storage.BlockManagerId;
import org.apache.spark.storage.BlockManagerId$;
import scala.Option;

/**
 * A shuffle that no one has run: what executors would tell the driver of it.
 *
 * @param maps spread evenly over executors
 */
record SimulatedShuffle(int maps, int executors, int reducers) {
  private static final double MEAN_BLOCK = 64 << 10;

  /** Of the logarithm of block sizes: two thirds are within half and double. */
  private static final double SPREAD = 0.7;

  int mapsOf(int executor) {
    return maps / executors + (executor < maps % executors ? 1 : 0);
  }

  private int firstMapOf(int executor) {
    return executor * (maps / executors) + Math.min(executor, maps % executors);
  }

  int executorOf(int map) {
    int executor = Math.min(executors - 1, map / Math.max(1, maps / executors));
    while (map < firstMapOf(executor)) {
      executor--;
    }
    return executor;
  }

  static String executorId(int executor) {
    return Integer.toString(executor);
  }

  /**
   * Records of one executor as the product makes them: data in regions of their own, indexes in a
   * slab.
   */
  List<MapOutputLocation> records(int executor) {
    SplittableRandom random = new SplittableRandom(executor);
    long indexBytes = 8L * (reducers + 1);
    long slab = random.nextLong() & -4096;
    int slabKey = random.nextInt();
    List<MapOutputLocation> records = new ArrayList<>();
    for (int i = 0; i < mapsOf(executor); i++) {
      long dataBytes = (long) (MEAN_BLOCK * reducers) + random.nextInt(1 << 20);
      RemoteAddress data = new RemoteAddress(random.nextLong() & -4096, random.nextInt());
      RemoteAddress index = new RemoteAddress(slab + i * indexBytes, slabKey);
      records.add(
          new Registered(
              firstMapOf(executor) + i,
              executorId(executor),
              List.of(data),
              dataBytes,
              dataBytes,
              index));
    }
    return records;
  }

  /** What Spark's own task of this map would answer. */
  MapStatus status(int map) {
    SplittableRandom random = new SplittableRandom(map);
    long[] sizes = new long[reducers];
    for (int i = 0; i < reducers; i++) {
      sizes[i] = (long) (MEAN_BLOCK * Math.exp(SPREAD * random.nextGaussian()));
    }
    return MapStatus$.MODULE$.apply(location(executorOf(map)), sizes, map, 0);
  }

  /** Four executors have a host. */
  static BlockManagerId location(int executor) {
    String host = "worker-" + executor / 4 + ".example.com";
    return BlockManagerId$.MODULE$.apply(executorId(executor), host, 7337, Option.empty());
  }
}
