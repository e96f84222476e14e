package dev.verbatim.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.verbatim.examples.TeraSort.Key;
import dev.verbatim.examples.TeraSort.Summary;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import scala.Tuple2;

class SmallJobsTest {
  private static JavaSparkContext spark;

  @BeforeAll
  static void startSpark() {
    spark =
        new JavaSparkContext(
            new SparkConf()
                .setMaster("local[1]")
                .setAppName("small jobs")
                .set("spark.ui.enabled", "false"));
  }

  @AfterAll
  static void stopSpark() {
    spark.close();
  }

  @Test
  void shouldCountWordsWhenTheyStandInSeveralPartitions() {
    var lines = spark.parallelize(List.of("The map, the", "", " reduce the Map"), 3);
    assertEquals(
        List.of(new Tuple2<>("the", 3L), new Tuple2<>("map", 2L)), WordCount.count(lines, 2));
  }

  @Test
  void shouldBeInOrderWithTheSameRecordsWhenSorted() {
    var input = TeraSort.generate(spark, 1001, 4);
    List<Summary> before = TeraSort.summaries(input);
    List<Summary> after = TeraSort.summaries(input.sortByKey(true, 3));
    assertFalse(TeraSort.inOrder(before));
    assertTrue(TeraSort.inOrder(after));
    assertEquals(1001, after.stream().mapToLong(Summary::count).sum());
    assertTrue(TeraSort.sameRecords(before, after));
  }

  @Test
  void shouldNotBeTheSameRecordsWhenOneIsChangedOrTwice() {
    List<Summary> before = TeraSort.summaries(TeraSort.generate(spark, 100, 2));
    List<Summary> changed =
        TeraSort.summaries(
            TeraSort.generate(spark, 100, 2)
                .mapToPair(
                    record -> {
                      record._2()[7] ^= 1;
                      return record;
                    }));
    assertFalse(TeraSort.sameRecords(before, changed));
    assertFalse(TeraSort.sameRecords(before, TeraSort.summaries(TeraSort.generate(spark, 101, 2))));
  }

  @Test
  void shouldBringEveryRecordOfEveryBlockWhenBlocksAreSmall() throws IOException {
    SparkSession session = SparkSession.builder().getOrCreate();
    JobNames names = new JobNames(null, null, false);
    JobResult result = names.parse("blocks:5x7").run(session);
    assertEquals(7, result.rows().size());
    result.rows().forEach(row -> assertEquals("5", row.get(1)));
    assertEquals(7, result.rows().stream().map(row -> row.get(2)).distinct().count());
    assertEquals(
        Optional.empty(),
        ResultComparison.difference(result, names.parse("blocks:5x7").run(session)));
  }

  @Test
  void shouldGiveTheSameResultWhenSortedTwice() throws IOException {
    SparkSession session = SparkSession.builder().getOrCreate();
    Job sort = new JobNames(null, null, false).parse("terasort:1001x3");
    JobResult result = sort.run(session);
    assertEquals("1001", result.rows().getFirst().getFirst());
    assertEquals(Optional.empty(), ResultComparison.difference(result, sort.run(session)));
  }

  @Test
  void shouldTellTheCpuTimeThatWasUsedSinceItWasAskedBefore() throws IOException {
    SparkSession session = SparkSession.builder().getOrCreate();
    ClusterCpu before = ClusterCpu.of(session);
    long used = ProcessHandle.current().info().totalCpuDuration().orElseThrow().toNanos();
    JobResult result = new JobNames(null, null, false).parse("terasort:200000x3").run(session);
    used = ProcessHandle.current().info().totalCpuDuration().orElseThrow().toNanos() - used;
    ClusterCpu since = ClusterCpu.of(session).since(before);

    assertEquals("200000", result.rows().getFirst().getFirst());
    double seconds = used / 1e9;
    assertTrue(since.processSeconds() >= seconds - 0.1, since + " where the job took " + seconds);
    assertTrue(since.processSeconds() <= seconds + 2, since + " where the job took " + seconds);
    assertTrue(since.machineSeconds() >= since.processSeconds() - 0.1, since::toString);
  }

  @Test
  void shouldNotBeInOrderWhenPartitionsOverlap() {
    Key small = new Key(1, 'a');
    Key large = new Key(-1, 'a');
    Summary first = new Summary(2, small, large, true, 0);
    Summary empty = new Summary(0, null, null, true, 0);
    assertTrue(TeraSort.inOrder(List.of(first, empty, new Summary(1, large, large, true, 0))));
    assertFalse(TeraSort.inOrder(List.of(first, empty, new Summary(1, small, small, true, 0))));
  }
}
