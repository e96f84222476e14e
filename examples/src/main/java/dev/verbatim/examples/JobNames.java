package dev.verbatim.examples;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What jobs are called: {@code q1} to {@code q99}, {@code terasort:RECORDSxPARTITIONS} and {@code
 * blocks:MAPSxREDUCERS}.
 */
final class JobNames {
  private static final Pattern QUERY = Pattern.compile("q\\d+[ab]?");
  private static final Pattern SIZED =
      Pattern.compile("(terasort|blocks):([1-9]\\d{0,9})x([1-9]\\d{0,5})");

  private final Path tpcdsJar;
  private final Path data;
  private final boolean keepLimit;

  /**
   * @param tpcdsJar null if there are no queries
   * @param data folder with one folder of Parquet files per table, null if there are no queries
   * @param keepLimit whether to keep the queries' outermost LIMIT
   */
  JobNames(Path tpcdsJar, Path data, boolean keepLimit) {
    this.tpcdsJar = tpcdsJar;
    this.data = data;
    this.keepLimit = keepLimit;
  }

  /**
   * The job of a name.
   *
   * @throws IllegalArgumentException if there is none, or what it needs was not given
   */
  Job parse(String name) throws IOException {
    Matcher sized = SIZED.matcher(name);
    if (sized.matches()) {
      long count = Long.parseLong(sized.group(2));
      int partitions = Integer.parseInt(sized.group(3));
      return sized.group(1).equals("terasort")
          ? new TeraSortJob(name, count, partitions)
          : new SmallBlocksJob(name, Math.toIntExact(count), partitions);
    }
    if (!QUERY.matcher(name).matches()) {
      throw new IllegalArgumentException(
          "No job '%s': a job is a query such as q72, terasort:RECORDSxPARTITIONS or blocks:MAPSxREDUCERS"
              .formatted(name));
    }
    if (tpcdsJar == null || data == null) {
      throw new IllegalArgumentException("Query " + name + " needs --tpcds-jar and --data");
    }
    if (!Files.isRegularFile(tpcdsJar)) {
      throw new IllegalArgumentException("No file " + tpcdsJar);
    }
    if (!Files.isDirectory(data)) {
      throw new IllegalArgumentException("No folder " + data + ": GenerateTpcds makes it");
    }
    return QueryJob.of(name, tpcdsJar, data, keepLimit);
  }
}
