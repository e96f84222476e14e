package dev.verbatim.examples;

import dev.verbatim.examples.tpcds.TpcdsJar;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What jobs are called: {@code q1} to {@code q99}, {@code terasort:RECORDSxPARTITIONS} and {@code
 * blocks:MAPSxREDUCERS}.
 */
final class JobNames {
  private static final String ALL_QUERIES = "all";
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
   * The names, with all queries in place of {@code all}.
   *
   * @throws IllegalArgumentException if a name is there twice, or queries' names cannot be read
   */
  List<String> expand(List<String> names) throws IOException {
    List<String> expanded = new ArrayList<>();
    for (String name : names) {
      if (name.equals(ALL_QUERIES)) {
        checkFiles(name);
        expanded.addAll(new TpcdsJar(tpcdsJar).queryNames());
      } else {
        expanded.add(name);
      }
    }
    Set<String> seen = new HashSet<>();
    for (String name : expanded) {
      if (!seen.add(name)) {
        throw new IllegalArgumentException("Job " + name + " is named twice");
      }
    }
    return expanded;
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
    checkFiles(name);
    QueryJob query = QueryJob.of(name, tpcdsJar, data, keepLimit);
    query.checkData();
    return query;
  }

  private void checkFiles(String name) {
    if (tpcdsJar == null || data == null) {
      throw new IllegalArgumentException("Query " + name + " needs --tpcds-jar and --data");
    }
    if (!Files.isRegularFile(tpcdsJar)) {
      throw new IllegalArgumentException("No file " + tpcdsJar);
    }
    if (!Files.isDirectory(data)) {
      throw new IllegalArgumentException("No folder " + data + ": GenerateTpcds makes it");
    }
  }
}
