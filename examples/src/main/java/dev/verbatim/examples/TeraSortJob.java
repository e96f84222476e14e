package dev.verbatim.examples;

import dev.verbatim.examples.TeraSort.Summary;
import java.util.List;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.SparkSession;

/**
 * {@link TeraSort}. The bounds of its partitions differ from run to run, so what is compared is the
 * number and the checksum of all records, once they are in order.
 *
 * @param records of 100 bytes
 * @param partitions of map and of reduce side
 */
record TeraSortJob(String name, long records, int partitions) implements Job {
  @Override
  public void prepare(SparkSession spark) {}

  @Override
  public JobResult run(SparkSession spark) {
    JavaSparkContext context = JavaSparkContext.fromSparkContext(spark.sparkContext());
    List<Summary> sorted =
        TeraSort.summaries(
            TeraSort.generate(context, records, partitions).sortByKey(true, partitions));
    if (!TeraSort.inOrder(sorted)) {
      throw new IllegalStateException(name + ": the result is not in order");
    }
    long count = sorted.stream().mapToLong(Summary::count).sum();
    long checksum = sorted.stream().mapToLong(Summary::checksum).sum();
    return new JobResult(
        List.of("bigint", "bigint"),
        List.of(List.of(Long.toString(count), Long.toString(checksum))));
  }
}
