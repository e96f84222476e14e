package dev.verbatim.bench;

import java.io.IOException;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.shuffle.ShuffleHandle;
import org.apache.spark.shuffle.ShuffleManager;
import org.apache.spark.shuffle.ShuffleWriter;
import org.apache.spark.shuffle.sort.SortShuffleManager;
import scala.Product2;
import scala.Tuple2;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Map outputs that a task writes one after another, through the writers that a shuffle manager
 * gives it.
 *
 * @param handle of the shuffle
 * @param count map outputs
 * @param records of each
 * @param recordBytes of each record
 */
record MapOutputs(ShuffleHandle handle, int count, int records, int recordBytes)
    implements Serializable {

  /**
   * Called in a task.
   *
   * @param stock whether by Spark's own manager or by the application's
   * @param firstMapId of {@code count} that no others have
   * @return for each map output the time from asking for its writer to the end of its commit,
   *     milliseconds
   */
  List<Double> write(boolean stock, long firstMapId) throws IOException {
    SparkEnv env = SparkEnv.get();
    ShuffleManager manager = stock ? new SortShuffleManager(env.conf()) : env.shuffleManager();
    TaskContext context = TaskContext.get();
    List<Double> millis = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      long start = System.nanoTime();
      ShuffleWriter<Integer, byte[]> writer =
          manager.getWriter(
              handle, firstMapId + i, context, context.taskMetrics().shuffleWriteMetrics());
      writer.write(CollectionConverters.asScala(content(i)));
      if (writer.stop(true).isEmpty()) {
        throw new IOException("map output " + i + " was not committed");
      }
      millis.add((System.nanoTime() - start) / 1e6);
    }
    if (stock) { // or nobody would know of these files
      manager.unregisterShuffle(handle.shuffleId());
    }
    return millis;
  }

  private Iterator<Product2<Integer, byte[]>> content(int map) {
    byte[] value = new byte[recordBytes];
    new Random(map).nextBytes(value);
    // Not the same array again: Java's serializer would write a reference to it.
    return IntStream.range(0, records)
        .<Product2<Integer, byte[]>>mapToObj(key -> new Tuple2<>(key, value.clone()))
        .iterator();
  }
}
