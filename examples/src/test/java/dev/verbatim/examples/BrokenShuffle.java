package dev.verbatim.examples;

import org.apache.spark.ShuffleDependency;
import org.apache.spark.SparkConf;
import org.apache.spark.shuffle.ShuffleHandle;
import org.apache.spark.shuffle.sort.SortShuffleManager;

/**
 * Spark's own shuffle, but that it refuses shuffles of 7 partitions, and ends the driver at those
 * of 5.
 */
public final class BrokenShuffle extends SortShuffleManager {
  static final int REFUSED = 7;
  static final int DEADLY = 5;
  static final int EXIT_CODE = 9;

  public BrokenShuffle(SparkConf conf) {
    super(conf);
  }

  @Override
  public <K, V, C> ShuffleHandle registerShuffle(
      int shuffleId, ShuffleDependency<K, V, C> dependency) {
    switch (dependency.partitioner().numPartitions()) {
      case REFUSED -> throw new IllegalStateException("no shuffle of " + REFUSED + " here");
      case DEADLY -> Runtime.getRuntime().halt(EXIT_CODE);
      default -> {}
    }
    return super.registerShuffle(shuffleId, dependency);
  }
}
