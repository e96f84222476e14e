package dev.verbatim.bench;

import com.sun.management.ThreadMXBean;
import dev.verbatim.examples.CpuTimes;
import dev.verbatim.it.spark.fixture.RawSerializer;
import java.io.IOException;
import java.io.Serializable;
import java.lang.management.ManagementFactory;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.executor.TempShuffleReadMetrics;
import org.apache.spark.shuffle.BaseShuffleHandle;
import org.apache.spark.shuffle.ShuffleHandle;
import org.apache.spark.shuffle.ShuffleManager;
import org.apache.spark.shuffle.sort.SortShuffleManager;
import scala.Product2;
import scala.collection.Iterator;

/**
 * One fetch of all blocks of a shuffle, by a task and through the readers that a shuffle manager
 * gives it.
 *
 * @param handle of the shuffle
 * @param reducers its partitions
 * @param perReader partitions that a reader fetches: all, or fewer by several readers one after
 *     another, as reduce tasks do
 * @param servingPid process id of the executor that has the blocks
 */
record BlockFetch(ShuffleHandle handle, int reducers, int perReader, long servingPid)
    implements Serializable {
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  /**
   * What a fetch took.
   *
   * @param read what came
   * @param remoteBlocks blocks that came from another executor, as Spark counts them
   * @param wallMillis from asking for the reader to the end of the last block
   * @param serving CPU of the executor that has the blocks
   * @param reading CPU of the executor that has asked for them
   * @param machine CPU of all
   * @param heapBytes what the executor that has asked has allocated on its heap, in all its threads
   */
  record Taken(
      RandomBlocks.Sum read,
      long remoteBlocks,
      double wallMillis,
      CpuTimes serving,
      CpuTimes reading,
      CpuTimes machine,
      long heapBytes)
      implements Serializable {}

  /**
   * Called in a task.
   *
   * @param stock whether by Spark's own manager, and so its own client, or by the application's
   */
  Taken run(boolean stock, boolean checksums) throws IOException {
    ((RawSerializer) ((BaseShuffleHandle<?, ?, ?>) handle).dependency().serializer())
        .checksums(checksums);
    SparkEnv env = SparkEnv.get();
    ShuffleManager manager = stock ? new SortShuffleManager(env.conf()) : env.shuffleManager();
    TaskContext context = TaskContext.get();
    TempShuffleReadMetrics metrics = context.taskMetrics().createTempShuffleReadMetrics();
    long self = ProcessHandle.current().pid();

    CpuTimes machine = CpuTimes.ofMachine();
    CpuTimes serving = CpuTimes.of(servingPid);
    CpuTimes reading = CpuTimes.of(self);
    long heap = THREADS.getTotalThreadAllocatedBytes();
    long start = System.nanoTime();
    RandomBlocks.Sum sum = new RandomBlocks.Sum(0, 0, 0);
    for (int from = 0; from < reducers; from += perReader) {
      int to = Math.min(reducers, from + perReader);
      Iterator<Product2<Long, Long>> blocks =
          manager.<Long, Long>getReader(handle, from, to, context, metrics).read();
      while (blocks.hasNext()) {
        Product2<Long, Long> block = blocks.next();
        sum = sum.plus(block._1(), block._2());
      }
    }
    double wallMillis = (System.nanoTime() - start) / 1e6;
    return new Taken(
        sum,
        metrics.remoteBlocksFetched(),
        wallMillis,
        CpuTimes.of(servingPid).since(serving),
        CpuTimes.of(self).since(reading),
        CpuTimes.ofMachine().since(machine),
        THREADS.getTotalThreadAllocatedBytes() - heap);
  }
}
