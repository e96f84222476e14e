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
   * What a map output took.
   *
   * @param wholeMillis from asking for its writer to the end of {@code stop(true)}
   * @param commitMillis from the last record that the writer took to the end of {@code stop(true)}:
   *     Spark's writers commit at the end of {@code write}
   * @param stopMicros {@code stop(true)} alone
   */
  record Times(double wholeMillis, double commitMillis, double stopMicros)
      implements Serializable {}

  /** Records that know when there are no more. */
  private static final class Records implements Iterator<Product2<Integer, byte[]>> {
    private final Iterator<Product2<Integer, byte[]>> content;
    private long endNanos;

    Records(Iterator<Product2<Integer, byte[]>> content) {
      this.content = content;
    }

    @Override
    public boolean hasNext() {
      boolean more = content.hasNext();
      if (!more && endNanos == 0) {
        endNanos = System.nanoTime();
      }
      return more;
    }

    @Override
    public Product2<Integer, byte[]> next() {
      return content.next();
    }
  }

  /**
   * Called in a task.
   *
   * @param stock whether by Spark's own manager or by the application's
   * @param firstMapId of {@code count} that no others have
   * @return what each map output took
   */
  List<Times> write(boolean stock, long firstMapId) throws IOException {
    SparkEnv env = SparkEnv.get();
    ShuffleManager manager = stock ? new SortShuffleManager(env.conf()) : env.shuffleManager();
    TaskContext context = TaskContext.get();
    List<Times> times = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      Records content = new Records(content(i));
      long start = System.nanoTime();
      ShuffleWriter<Integer, byte[]> writer =
          manager.getWriter(
              handle, firstMapId + i, context, context.taskMetrics().shuffleWriteMetrics());
      writer.write(CollectionConverters.asScala(content));
      long written = System.nanoTime();
      boolean committed = writer.stop(true).isDefined();
      long end = System.nanoTime();
      if (!committed || content.endNanos == 0) {
        throw new IOException("map output " + i + " was not committed");
      }
      times.add(
          new Times((end - start) / 1e6, (end - content.endNanos) / 1e6, (end - written) / 1e3));
    }
    if (stock) { // or nobody would know of these files
      manager.unregisterShuffle(handle.shuffleId());
    }
    return times;
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
