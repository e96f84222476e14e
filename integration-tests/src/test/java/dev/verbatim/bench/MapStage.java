package dev.verbatim.bench;

import dev.verbatim.it.spark.fixture.Deadline;
import java.time.Duration;
import org.apache.spark.HashPartitioner;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.rdd.ShuffledRDD;
import org.apache.spark.serializer.Serializer;
import scala.concurrent.Await;
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;

/** The map side of a shuffle, without anybody who reads it. */
final class MapStage {
  private static final ClassTag<Integer> INTEGER = ClassTag$.MODULE$.apply(Integer.class);
  private static final ClassTag<byte[]> BYTES = ClassTag$.MODULE$.apply(byte[].class);

  private MapStage() {}

  /**
   * Returns when all map outputs are committed.
   *
   * @param serializer null for the one that Spark chooses
   * @param usual how long that may take on a usual machine
   */
  static ShuffleDependency<?, ?, ?> run(
      JavaPairRDD<Integer, byte[]> records, int partitions, Serializer serializer, Duration usual)
      throws Exception {
    ShuffleDependency<?, ?, ?> shuffle =
        (ShuffleDependency<?, ?, ?>)
            new ShuffledRDD<Integer, byte[], byte[]>(
                    records.rdd(), new HashPartitioner(partitions), INTEGER, BYTES, BYTES)
                .setSerializer(serializer)
                .dependencies()
                .head();
    Await.result(
        records.context().submitMapStage(shuffle),
        scala.concurrent.duration.Duration.create(Deadline.of(usual).toSeconds(), "s"));
    return shuffle;
  }
}
