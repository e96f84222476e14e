package dev.verbatim.examples;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaSparkContext;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import scala.Tuple2;

/**
 * Sorts random records of 100 bytes by their first 10, all of which pass through the shuffle, and
 * proves that the result is in order and holds the same records.
 */
@Command(
    name = "TeraSort",
    mixinStandardHelpOptions = true,
    description = {
      "Sorts random records of 100 bytes and checks the result.",
      "Exit code: 0 right, 1 wrong, 2 failed."
    })
public final class TeraSort implements Callable<Integer> {
  private static final int VALUE_BYTES = 90;

  @Option(
      names = "--records",
      defaultValue = "1000000",
      description = "Records of 100 bytes (${DEFAULT-VALUE}).")
  private long records;

  @Option(names = "--partitions", defaultValue = "8", description = "Of map and of reduce side.")
  private int partitions;

  /** Command line entry, to be run by spark-submit. */
  public static void main(String[] arguments) {
    System.exit(ShortErrors.on(new CommandLine(new TeraSort())).execute(arguments));
  }

  @Override
  public Integer call() throws IOException {
    if (records < 1 || partitions < 1) {
      throw new IllegalArgumentException("--records and --partitions must be at least 1");
    }
    try (JavaSparkContext spark = new JavaSparkContext(new SparkConf().setAppName("TeraSort"))) {
      JavaPairRDD<Key, byte[]> input = generate(spark, records, partitions);
      List<Summary> before = summaries(input);
      long start = System.nanoTime();
      List<Summary> after = summaries(input.sortByKey(true, partitions));
      double seconds = (System.nanoTime() - start) / 1e9;
      boolean right = inOrder(after) && sameRecords(before, after);
      System.out.printf(
          "Sorted %,d records, %,.1f MB, in %.1f s: %s%n",
          records, records * 1e-4, seconds, right ? "in order, none lost or changed" : "WRONG");
      return right ? 0 : 1;
    }
  }

  /** The first 10 bytes of a record, compared as unsigned. */
  record Key(long high, char low) implements Comparable<Key>, java.io.Serializable {
    @Override
    public int compareTo(Key other) {
      int byHigh = Long.compareUnsigned(high, other.high);
      return byHigh != 0 ? byHigh : Character.compare(low, other.low);
    }
  }

  /**
   * One partition's records.
   *
   * @param first null if there are none
   * @param last null if there are none
   * @param inOrder whether no key is smaller than the one before it
   * @param checksum sum of a hash of each record, so that order does not matter
   */
  record Summary(long count, Key first, Key last, boolean inOrder, long checksum)
      implements java.io.Serializable {}

  /** The same records for the same numbers, made where they are needed. */
  static JavaPairRDD<Key, byte[]> generate(JavaSparkContext spark, long records, int partitions) {
    List<Integer> numbers = IntStream.range(0, partitions).boxed().toList();
    return spark
        .parallelize(numbers, partitions)
        .flatMapToPair(
            number -> {
              long first = records * number / partitions;
              long end = records * (number + 1) / partitions;
              SplittableRandom random = new SplittableRandom(number);
              return LongStream.range(first, end).mapToObj(_ -> record(random)).iterator();
            });
  }

  private static Tuple2<Key, byte[]> record(SplittableRandom random) {
    byte[] value = new byte[VALUE_BYTES];
    Key key = new Key(random.nextLong(), (char) random.nextInt());
    random.nextBytes(value);
    return new Tuple2<>(key, value);
  }

  static List<Summary> summaries(JavaPairRDD<Key, byte[]> records) {
    return records.mapPartitions(part -> List.of(summary(part)).iterator()).collect();
  }

  private static Summary summary(Iterator<Tuple2<Key, byte[]>> records) {
    long count = 0;
    Key first = null;
    Key last = null;
    boolean inOrder = true;
    long checksum = 0;
    while (records.hasNext()) {
      Tuple2<Key, byte[]> record = records.next();
      Key key = record._1();
      first = first == null ? key : first;
      inOrder &= last == null || last.compareTo(key) <= 0;
      last = key;
      checksum += spread(31L * key.hashCode() + Arrays.hashCode(record._2()));
      count++;
    }
    return new Summary(count, first, last, inOrder, checksum);
  }

  /** So that two changes do not cancel out in the sum. */
  private static long spread(long hash) {
    long product = hash * 0x9E3779B97F4A7C15L;
    return product ^ (product >>> 32);
  }

  /** Whether each partition is in order and begins where the one before it ends. */
  static boolean inOrder(List<Summary> sorted) {
    List<Summary> filled = new ArrayList<>(sorted);
    filled.removeIf(part -> part.count() == 0);
    for (int i = 0; i < filled.size(); i++) {
      boolean follows = i == 0 || filled.get(i - 1).last().compareTo(filled.get(i).first()) <= 0;
      if (!filled.get(i).inOrder() || !follows) {
        return false;
      }
    }
    return true;
  }

  static boolean sameRecords(List<Summary> before, List<Summary> after) {
    return before.stream().mapToLong(Summary::count).sum()
            == after.stream().mapToLong(Summary::count).sum()
        && before.stream().mapToLong(Summary::checksum).sum()
            == after.stream().mapToLong(Summary::checksum).sum();
  }
}
