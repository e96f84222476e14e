package dev.verbatim.examples.tpcds;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class GenerateTpcdsTest {
  private static final Path JAR = Path.of("target/tpcds/spark-sql-tests.jar");

  @TempDir private Path output;

  private int generate(String... more) {
    CommandLine line = GenerateTpcds.commandLine();
    String[] arguments = {"--tpcds-jar", JAR.toString(), "--output", output.toString()};
    String[] all = java.util.Arrays.copyOf(arguments, arguments.length + more.length);
    System.arraycopy(more, 0, all, arguments.length, more.length);
    return line.execute(all);
  }

  @Test
  void shouldAnswerAQueryWhenItsTablesWereGenerated() throws IOException {
    assertEquals(0, generate("--queries", "q3", "--scale", "0.01", "--master", "local[1]"));
    assertFalse(Files.exists(output.resolve("web_sales")));
    FileTime old = FileTime.from(Instant.EPOCH);
    Files.setLastModifiedTime(output.resolve("date_dim/_SUCCESS"), old);
    Files.delete(output.resolve("item/_SUCCESS"));

    assertEquals(0, generate("--queries", "q3", "--scale", "0.01", "--master", "local[1]"));
    assertEquals(old, Files.getLastModifiedTime(output.resolve("date_dim/_SUCCESS")));
    assertTrue(Files.exists(output.resolve("item/_SUCCESS")), "a broken table is written again");

    try (SparkSession spark =
        SparkSession.builder()
            .master("local[1]")
            .config("spark.ui.enabled", "false")
            .config("spark.sql.shuffle.partitions", "2")
            .getOrCreate()) {
      for (String table : new String[] {"store_sales", "item", "date_dim"}) {
        spark.read().parquet(output.resolve(table).toString()).createOrReplaceTempView(table);
      }
      assertEquals(73_049, spark.table("date_dim").count());
      var answer = spark.sql(new TpcdsJar(JAR).query("q3")).collectAsList();
      assertFalse(answer.isEmpty());
      for (var row : answer) {
        assertTrue(row.getDecimal(3).signum() >= 0, "sum of prices " + row);
      }
    }
  }

  @Test
  void shouldRefuseWhenTheScaleIsNotPositive() {
    assertEquals(2, generate("--scale", "0"));
  }
}
