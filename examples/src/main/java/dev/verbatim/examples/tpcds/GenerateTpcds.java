package dev.verbatim.examples.tpcds;

import dev.verbatim.examples.ShortErrors;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SaveMode;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.StructType;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Writes TPC-DS tables as Parquet, each under its name, and leaves alone those that are there. */
@Command(
    name = "GenerateTpcds",
    mixinStandardHelpOptions = true,
    description = "Generates the TPC-DS tables that some queries read, as Parquet.")
public final class GenerateTpcds implements Callable<Integer> {
  private static final String ALL = "all";

  @Option(
      names = "--tpcds-jar",
      required = true,
      description = "spark-sql's jar with classifier 'tests': queries and table definitions.")
  private Path tpcdsJar;

  @Option(names = "--scale", defaultValue = "0.1", description = "Scale factor (1 is about 1 GB).")
  private double scale;

  @Option(names = "--output", required = true, description = "Folder for this scale's tables.")
  private Path output;

  @Option(
      names = "--queries",
      split = ",",
      defaultValue = ALL,
      description = "Only the tables of these queries (default: ${DEFAULT-VALUE}: all tables).")
  private List<String> queries;

  @Option(names = "--master", defaultValue = "local[*]", description = "Spark master.")
  private String master;

  /** Command line entry. */
  public static void main(String[] arguments) {
    System.exit(commandLine().execute(arguments));
  }

  static CommandLine commandLine() {
    return ShortErrors.on(new CommandLine(new GenerateTpcds()));
  }

  @Override
  public Integer call() throws IOException {
    if (!(scale > 0 && scale <= 100_000)) {
      throw new IllegalArgumentException("--scale is " + scale + ", allowed: above 0 to 100000");
    }
    TpcdsJar jar = new TpcdsJar(tpcdsJar);
    Map<String, StructType> schemas = jar.schemas();
    Set<String> missing = new TreeSet<>();
    for (String table : wantedTables(jar, schemas.keySet())) {
      if (!isComplete(output.resolve(table))) {
        missing.add(table);
      }
    }
    if (missing.isEmpty()) {
      System.out.println("TPC-DS tables are all in " + output);
      return 0;
    }
    try (SparkSession spark =
        SparkSession.builder()
            .appName("TPC-DS data, scale " + scale)
            .master(master)
            .config("spark.ui.enabled", "false")
            .getOrCreate()) {
      for (String table : missing) {
        long start = System.nanoTime();
        long rows = write(spark, table, scale, schemas.get(table), output.resolve(table));
        System.out.printf(
            "  %-24s %,12d rows %6.1f s%n", table, rows, (System.nanoTime() - start) / 1e9);
      }
    }
    return 0;
  }

  private Set<String> wantedTables(TpcdsJar jar, Set<String> known) throws IOException {
    if (queries.contains(ALL)) {
      return known;
    }
    Set<String> wanted = new TreeSet<>();
    for (String query : queries) {
      wanted.addAll(TpcdsJar.tablesOf(jar.query(query), known));
    }
    return wanted;
  }

  /** Spark writes this file last. */
  private static boolean isComplete(Path table) {
    return Files.exists(table.resolve("_SUCCESS"));
  }

  /** Writes one table, over what an interrupted run may have left, and counts its rows. */
  static long write(SparkSession spark, String name, double scale, StructType schema, Path folder) {
    List<long[]> ranges = new TpcdsTable(name, scale).ranges();
    JavaRDD<Row> rows =
        new JavaSparkContext(spark.sparkContext())
            .parallelize(ranges, Math.max(1, ranges.size()))
            .flatMap(range -> new TpcdsTable(name, scale).rows(range, schema));
    spark.createDataFrame(rows, schema).write().mode(SaveMode.Overwrite).parquet(folder.toString());
    return spark.read().parquet(folder.toString()).count();
  }
}
