package dev.verbatim.shuffle.writer;

import dev.verbatim.shuffle.fallback.ThrottledLog;
import dev.verbatim.shuffle.metrics.ShuffleCounters;
import java.io.IOException;
import java.util.function.Supplier;
import org.apache.spark.scheduler.MapStatus;
import org.apache.spark.shuffle.ShuffleWriter;
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
  private final int shuffleId;
  private final OutputArena arena;
  private final Supplier<MapOutputFiles> files;
  private boolean ended;

  /**
   * @param files asked after the commit
   */
  public RegisteringShuffleWriter(
      ShuffleWriter<K, V> stock,
      OutputRegistrar registrar,
      ShuffleCounters counters,
      int shuffleId,
      Supplier<MapOutputFiles> files) {
    this.stock = stock;
    this.registrar = registrar;
    this.counters = counters;
    this.shuffleId = shuffleId;
    this.arena = registrar.arena(shuffleId);
    this.files = files;
    registrar.mapTaskBegins(shuffleId);
  }

  @Override
  public void write(Iterator<Product2<K, V>> records) throws IOException {
    stock.write(records);
  }

  @Override
  public Option<MapStatus> stop(boolean success) {
    try {
      Option<MapStatus> status = stock.stop(success);
      if (success && status.isDefined()) {
        register();
      }
      return status;
    } finally {
      if (!ended) { // Spark stops a writer again when that has failed
        ended = true;
        registrar.mapTaskEnds(shuffleId);
      }
    }
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
