package dev.verbatim.shuffle.reader;

import java.io.InputStream;
import org.apache.spark.Aggregator;
import org.apache.spark.InterruptibleIterator;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.internal.config.ConfigEntry;
import org.apache.spark.internal.config.package$;
import org.apache.spark.io.CompressionCodec$;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.serializer.SerializerInstance;
import org.apache.spark.shuffle.ShuffleReadMetricsReporter;
import org.apache.spark.shuffle.ShuffleReader;
import org.apache.spark.storage.BlockId;
import org.apache.spark.storage.BlockManagerId;
import org.apache.spark.storage.ShuffleBlockFetcherIterator;
import org.apache.spark.util.CompletionIterator$;
import org.apache.spark.util.SystemClock;
import org.apache.spark.util.collection.ExternalSorter;
import scala.Option;
import scala.Product2;
import scala.Tuple2;
import scala.Tuple3;
import scala.collection.Iterator;
import scala.collection.Seq;
import scala.runtime.BoxedUnit;

/**
 * Reads the blocks of a reduce task with Spark's own fetcher over our client, and combines and
 * sorts them as Spark's {@code BlockStoreShuffleReader} does, which has no place for a client.
 *
 * @param <K> key
 * @param <C> combined value
 */
public final class RdmaShuffleReader<K, C> implements ShuffleReader<K, C> {
  private static final package$ SETTINGS = package$.MODULE$;
  private static final long MIB = 1 << 20;

  private final ShuffleDependency<K, Object, C> dependency;
  private final Iterator<Tuple2<BlockManagerId, Seq<Tuple3<BlockId, Object, Object>>>> blocks;
  private final TaskContext context;
  private final ShuffleReadMetricsReporter metrics;
  private final BlockStoreClient client;
  private final boolean batchWanted;
  private final SparkEnv env = SparkEnv.get();
  private final SparkConf conf = env.conf();

  public RdmaShuffleReader(
      ShuffleDependency<K, Object, C> dependency,
      Iterator<Tuple2<BlockManagerId, Seq<Tuple3<BlockId, Object, Object>>>> blocks,
      TaskContext context,
      ShuffleReadMetricsReporter metrics,
      BlockStoreClient client,
      boolean batchWanted) {
    this.dependency = dependency;
    this.blocks = blocks;
    this.context = context;
    this.metrics = metrics;
    this.client = client;
    this.batchWanted = batchWanted;
  }

  @Override
  public Iterator<Product2<K, C>> read() {
    SerializerInstance serializer = dependency.serializer().newInstance();
    Iterator<Tuple2<Object, Object>> records =
        fetch()
            .flatMap(
                (Tuple2<BlockId, InputStream> block) ->
                    serializer.deserializeStream(block._2()).asKeyValueIterator())
            .map(
                record -> {
                  metrics.incRecordsRead(1);
                  return record;
                });
    Iterator<Tuple2<Object, Object>> counted =
        CompletionIterator$.MODULE$.apply(
            records,
            () -> {
              context.taskMetrics().mergeShuffleReadMetrics();
              return BoxedUnit.UNIT;
            });
    Iterator<Product2<K, C>> result =
        combine(new InterruptibleIterator<Tuple2<Object, Object>>(context, counted));
    // Combining and sorting consume the iterator that could be interrupted, so wrap once more.
    return result instanceof InterruptibleIterator
        ? result
        : new InterruptibleIterator<>(context, result);
  }

  private Iterator<Tuple2<BlockId, InputStream>> fetch() {
    return new ShuffleBlockFetcherIterator(
            context,
            client,
            env.blockManager(),
            env.mapOutputTracker(),
            blocks,
            (id, stream) -> env.serializerManager().wrapStream(id, stream),
            (long) get(SETTINGS.REDUCER_MAX_SIZE_IN_FLIGHT()) * MIB,
            (int) get(SETTINGS.REDUCER_MAX_REQS_IN_FLIGHT()),
            (int) get(SETTINGS.REDUCER_MAX_BLOCKS_IN_FLIGHT_PER_ADDRESS()),
            (long) get(SETTINGS.MAX_REMOTE_BLOCK_SIZE_FETCH_TO_MEM()),
            (int) get(SETTINGS.SHUFFLE_MAX_ATTEMPTS_ON_NETTY_OOM()),
            (boolean) get(SETTINGS.SHUFFLE_DETECT_CORRUPT()),
            (boolean) get(SETTINGS.SHUFFLE_DETECT_CORRUPT_MEMORY()),
            (boolean) get(SETTINGS.SHUFFLE_CHECKSUM_ENABLED()),
            (String) get(SETTINGS.SHUFFLE_CHECKSUM_ALGORITHM()),
            metrics,
            fetchInBatches(),
            new SystemClock())
        .toCompletionIterator();
  }

  private Object get(ConfigEntry<?> entry) {
    return conf.get(entry);
  }

  /** Neighbouring partitions may travel as one block when their bytes can simply be joined. */
  private boolean fetchInBatches() {
    boolean compressed = (boolean) get(SETTINGS.SHUFFLE_COMPRESS());
    return batchWanted
        && dependency.serializer().supportsRelocationOfSerializedObjects()
        && (!compressed
            || CompressionCodec$.MODULE$.supportsConcatenationOfSerializedStreams(
                CompressionCodec$.MODULE$.createCodec(conf)))
        && !(boolean) get(SETTINGS.SHUFFLE_USE_OLD_FETCH_PROTOCOL())
        && !(boolean) get(SETTINGS.IO_ENCRYPTION_ENABLED());
  }

  @SuppressWarnings({"unchecked", "rawtypes"}) // the dependency says what the pairs are
  private Iterator<Product2<K, C>> combine(Iterator pairs) {
    Option<Aggregator<K, Object, C>> aggregator = dependency.aggregator();
    if (dependency.keyOrdering().isDefined()) {
      ExternalSorter sorter =
          new ExternalSorter(
              context,
              aggregator.isDefined() && dependency.mapSideCombine()
                  ? Option.apply(mergeCombined(aggregator.get()))
                  : aggregator,
              Option.empty(),
              (Option) dependency.keyOrdering(),
              dependency.serializer(),
              ExternalSorter.$lessinit$greater$default$6());
      return sorter.insertAllAndUpdateMetrics(pairs);
    }
    if (aggregator.isEmpty()) {
      return pairs;
    }
    return dependency.mapSideCombine()
        ? aggregator.get().combineCombinersByKey(pairs, context)
        : aggregator.get().combineValuesByKey(pairs, context);
  }

  /** What arrives is combined already: the first value is a combiner, and so are all others. */
  private static <K, C> Aggregator<K, C, C> mergeCombined(Aggregator<K, ?, C> aggregator) {
    return new Aggregator<>(
        value -> value, aggregator.mergeCombiners(), aggregator.mergeCombiners());
  }
}
