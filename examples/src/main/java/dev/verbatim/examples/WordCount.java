package dev.verbatim.examples;

import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import scala.Tuple2;

/** Counts the words of text files: the smallest job that shuffles. */
@Command(
    name = "WordCount",
    mixinStandardHelpOptions = true,
    description = "Prints the most frequent words of text files and how often they occur.")
public final class WordCount implements Callable<Integer> {
  @Parameters(description = "File, folder or pattern that Spark can read.")
  private String input;

  @Option(names = "--top", defaultValue = "20", description = "Words to print (${DEFAULT-VALUE}).")
  private int top;

  /** Command line entry, to be run by spark-submit. */
  public static void main(String[] arguments) {
    System.exit(ShortErrors.on(new CommandLine(new WordCount())).execute(arguments));
  }

  @Override
  public Integer call() {
    try (JavaSparkContext spark = new JavaSparkContext(new SparkConf().setAppName("WordCount"))) {
      count(spark.textFile(input), top)
          .forEach(word -> System.out.printf("%,12d %s%n", word._2(), word._1()));
    }
    return 0;
  }

  /** The most frequent words with their counts, equally frequent ones by the alphabet. */
  static List<Tuple2<String, Long>> count(JavaRDD<String> lines, int top) {
    return lines
        .flatMap(line -> Arrays.asList(line.toLowerCase(Locale.ROOT).split("\\W+")).iterator())
        .filter(word -> !word.isEmpty())
        .mapToPair(word -> new Tuple2<>(word, 1L))
        .reduceByKey(Long::sum)
        .map(word -> word)
        .takeOrdered(top, new MostFrequentFirst());
  }

  /** A class because Spark sends it to the executors. */
  private static final class MostFrequentFirst
      implements Comparator<Tuple2<String, Long>>, java.io.Serializable {
    private static final long serialVersionUID = 1;

    @Override
    public int compare(Tuple2<String, Long> a, Tuple2<String, Long> b) {
      int byCount = Long.compare(b._2(), a._2());
      return byCount != 0 ? byCount : a._1().compareTo(b._1());
    }
  }
}
