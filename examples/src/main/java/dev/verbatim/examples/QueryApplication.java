package dev.verbatim.examples;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.verbatim.examples.tpcds.TpcdsJar;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeoutException;
import java.util.regex.Pattern;
import org.apache.spark.SparkEnv;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;

/**
 * The Spark application that {@link CompareShuffles} starts once per shuffle manager, in a JVM of
 * its own so that none profits from code that another has warmed up.
 */
final class QueryApplication {
  private static final Pattern LAST_LIMIT =
      Pattern.compile("\\s+LIMIT\\s+\\d+\\s*;?\\s*$", Pattern.CASE_INSENSITIVE);
  private static final Duration LISTENER_PATIENCE = Duration.ofMinutes(1);

  private final ApplicationRequest request;
  private final ShuffleBytesListener listener = new ShuffleBytesListener();

  private QueryApplication(ApplicationRequest request) {
    this.request = request;
  }

  /** Reads the request from the first file, writes the report to the second. */
  public static void main(String[] files) throws Exception {
    ObjectMapper json = new ObjectMapper();
    ApplicationRequest request =
        json.readValue(Path.of(files[0]).toFile(), ApplicationRequest.class);
    ApplicationReport report = new QueryApplication(request).run();
    json.writeValue(Path.of(files[1]).toFile(), report);
  }

  private ApplicationReport run() throws IOException, TimeoutException {
    SparkSession.Builder builder =
        SparkSession.builder().appName("TPC-DS under " + request.label()).master(request.master());
    request.configuration().forEach(builder::config);
    say("starting Spark, %s", request.master());
    try (SparkSession spark = builder.getOrCreate()) {
      spark.sparkContext().addSparkListener(listener);
      Map<String, String> texts = texts(spark);
      warmUp(spark);
      List<QueryReport> reports = new ArrayList<>();
      for (Map.Entry<String, String> text : texts.entrySet()) {
        reports.add(run(spark, text.getKey(), text.getValue()));
      }
      String manager = SparkEnv.get().shuffleManager().getClass().getName();
      return new ApplicationReport(
          request.label(),
          manager,
          TransferCounters.modes(),
          TransferCounters.fallbacks(),
          reports);
    }
  }

  /** Reads the queries and declares the tables they need. */
  private Map<String, String> texts(SparkSession spark) throws IOException {
    TpcdsJar jar = new TpcdsJar(request.tpcdsJar());
    Set<String> tables = jar.schemas().keySet();
    Map<String, String> texts = new LinkedHashMap<>();
    for (String query : request.queries()) {
      String text = jar.query(query);
      for (String table : TpcdsJar.tablesOf(text, tables)) {
        Path folder = request.data().resolve(table);
        if (!Files.isDirectory(folder)) {
          throw new IOException("Query " + query + " needs " + folder + ": run GenerateTpcds");
        }
        spark.read().parquet(folder.toString()).createOrReplaceTempView(table);
      }
      texts.put(query, request.keepLimit() ? text : withoutLastLimit(text));
    }
    return texts;
  }

  /**
   * Without the limit the whole result is compared. With it, rows that the ORDER BY leaves tied at
   * the cut differ between two right runs.
   */
  static String withoutLastLimit(String text) {
    return LAST_LIMIT.matcher(text).replaceFirst("");
  }

  /** Waits for all executors and lets them load what every query needs, outside of the times. */
  private void warmUp(SparkSession spark) throws TimeoutException {
    spark.range(0, 10_000, 1, 4).repartition(4).groupBy("id").count().count();
    takeBytes(spark);
    say("executors are up");
  }

  private QueryReport run(SparkSession spark, String query, String text) throws TimeoutException {
    say("%s started", query);
    TransferBytes before = TransferCounters.bytes();
    long start = System.nanoTime();
    Dataset<Row> rows = spark.sql(text);
    QueryResult result = QueryResult.of(rows.schema(), rows.collectAsList());
    double seconds = (System.nanoTime() - start) / 1e9;
    ShuffleBytes bytes = takeBytes(spark);
    TransferBytes transfer = before == null ? null : TransferCounters.bytes().minus(before);
    say(
        "%s done in %.1f s: %,d rows, %.1f MB shuffled",
        query, seconds, result.rows().size(), bytes.written() / 1e6);
    return new QueryReport(query, seconds, bytes, transfer, result);
  }

  private ShuffleBytes takeBytes(SparkSession spark) throws TimeoutException {
    spark.sparkContext().listenerBus().waitUntilEmpty(LISTENER_PATIENCE.toMillis());
    return listener.take();
  }

  private void say(String format, Object... values) {
    System.out.println("  [" + request.label() + "] " + format.formatted(values));
  }
}
