package dev.verbatim.shuffle.writer;

import dev.verbatim.shuffle.fallback.ThrottledLog;
import dev.verbatim.shuffle.metrics.ShuffleCounters;
import java.io.IOException;
import java.util.function.Supplier;
import org.apache.spark.TaskContext;
import org.apache.spark.scheduler.MapStatus;
import org.apache.spark.shuffle.ShuffleWriter;
import org.apache.spark.util.TaskCompletionListener;
import org.slf4j.LoggerFactory;
import scala.Option;
import scala.Product2;
import scala.collection.Iterator;

/**
 * One of Spark's own writers, whose committed files are handed on to be registered.
 *
 * @param <K> key
 * @param <V> value
 */
public final class RegisteringShuffleWriter<K, V> extends ShuffleWriter<K, V> {
  private static final ThrottledLog LOG =
      new ThrottledLog(LoggerFactory.getLogger(RegisteringShuffleWriter.class));

  private final ShuffleWriter<K, V> stock;
  private final OutputRegistrar registrar;
  private final ShuffleCounters counters;
  private final OutputArena arena;
  private final Supplier<MapOutputFiles> files;

  /**
   * @param task the map task that writes
   * @param files asked after the commit
   */
  public RegisteringShuffleWriter(
      ShuffleWriter<K, V> stock,
      OutputRegistrar registrar,
      ShuffleCounters counters,
      int shuffleId,
      TaskContext task,
      Supplier<MapOutputFiles> files) {
    this.stock = stock;
    this.registrar = registrar;
    this.counters = counters;
    this.arena = registrar.arena(shuffleId);
    this.files = files;
    registrar.mapTaskBegins(shuffleId);
    // Spark does not stop the writer of a task that an Error ends, such as SparkOutOfMemoryError.
    TaskCompletionListener end = _ -> registrar.mapTaskEnds(shuffleId);
    task.addTaskCompletionListener(end);
  }

  @Override
  public void write(Iterator<Product2<K, V>> records) throws IOException {
    stock.write(records);
  }

  @Override
  public Option<MapStatus> stop(boolean success) {
    Option<MapStatus> status = stock.stop(success);
    if (success && status.isDefined()) {
      register();
    }
    return status;
  }

  private void register() {
    long start = System.nanoTime();
    try {
      registrar.submit(arena, files.get());
    } catch (RuntimeException | Error e) {
      LOG.warn(e.getClass().getName(), "A map output stays on TCP", e);
    } finally {
      counters.handedOver(System.nanoTime() - start);
    }
  }

  @Override
  public long[] getPartitionLengths() {
    return stock.getPartitionLengths();
  }
}
