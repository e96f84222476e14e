package dev.verbatim.examples;

import dev.verbatim.examples.tpcds.TpcdsJar;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.regex.Pattern;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;

/**
 * A TPC-DS query.
 *
 * @param text its SQL
 * @param tables that the text names
 * @param data folder with one folder of Parquet files per table
 */
record QueryJob(String name, String text, Set<String> tables, Path data) implements Job {
  private static final Pattern LAST_LIMIT =
      Pattern.compile("\\s+LIMIT\\s+\\d+\\s*;?\\s*$", Pattern.CASE_INSENSITIVE);

  static QueryJob of(String name, Path tpcdsJar, Path data, boolean keepLimit) throws IOException {
    TpcdsJar jar = new TpcdsJar(tpcdsJar);
    String text = jar.query(name);
    Set<String> tables = TpcdsJar.tablesOf(text, jar.schemas().keySet());
    return new QueryJob(name, keepLimit ? text : withoutLastLimit(text), tables, data);
  }

  /**
   * Without the limit the whole result is compared. With it, rows that the ORDER BY leaves tied at
   * the cut differ between two right runs.
   */
  static String withoutLastLimit(String text) {
    return LAST_LIMIT.matcher(text).replaceFirst("");
  }

  @Override
  public void prepare(SparkSession spark) {
    for (String table : tables) {
      if (!spark.catalog().tableExists(table)) { // from an earlier query
        spark.read().parquet(data.resolve(table).toString()).createOrReplaceTempView(table);
      }
    }
  }

  /**
   * Looks whether all of its tables are there.
   *
   * @throws IOException if one is not; the message says what makes it
   */
  void checkData() throws IOException {
    for (String table : tables) {
      Path folder = data.resolve(table);
      if (!Files.isDirectory(folder)) {
        throw new IOException("Query " + name + " needs " + folder + ": run GenerateTpcds");
      }
    }
  }

  @Override
  public JobResult run(SparkSession spark) {
    Dataset<Row> rows = spark.sql(text);
    return JobResult.of(rows.schema(), rows.collectAsList());
  }
}
