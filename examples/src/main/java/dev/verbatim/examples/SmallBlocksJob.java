package dev.verbatim.examples;

import java.util.Iterator;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.spark.HashPartitioner;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.SparkSession;
import scala.Tuple2;

/**
 * A shuffle of as many tiny blocks as it can have: each map output has one record for each reduce
 * partition.
 */
record SmallBlocksJob(String name, int maps, int reducers) implements Job {
  private record Summary(int partition, long count, long sum) implements java.io.Serializable {}

  @Override
  public void prepare(SparkSession spark) {}

  @Override
  public JobResult run(SparkSession spark) {
    int width = reducers;
    List<Summary> sums =
        JavaSparkContext.fromSparkContext(spark.sparkContext())
            .parallelize(IntStream.range(0, maps).boxed().toList(), maps)
            .flatMapToPair(map -> records(map, width))
            .partitionBy(new HashPartitioner(width))
            .mapPartitionsWithIndex(
                (partition, records) -> List.of(summary(partition, records)).iterator(), false)
            .collect();
    return new JobResult(
        List.of("int", "bigint", "bigint"),
        sums.stream()
            .map(
                sum ->
                    List.of(
                        Integer.toString(sum.partition()),
                        Long.toString(sum.count()),
                        Long.toString(sum.sum())))
            .toList());
  }

  private static Iterator<Tuple2<Integer, Long>> records(int map, int width) {
    return IntStream.range(0, width)
        .mapToObj(reducer -> new Tuple2<>(reducer, spread(map, reducer)))
        .iterator();
  }

  private static Summary summary(int partition, Iterator<Tuple2<Integer, Long>> records) {
    long count = 0;
    long sum = 0;
    while (records.hasNext()) {
      sum += records.next()._2();
      count++;
    }
    return new Summary(partition, count, sum);
  }

  /** Another number for each record, so that one that is lost or taken for another shows. */
  private static long spread(int map, int reducer) {
    long product = ((long) map << 32 | reducer) * 0x9E3779B97F4A7C15L;
    return product ^ (product >>> 32);
  }
}
