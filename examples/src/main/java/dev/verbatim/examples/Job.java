package dev.verbatim.examples;

import java.io.IOException;
import org.apache.spark.sql.SparkSession;

/** What is run under each shuffle manager, and gives a result that can be compared. */
interface Job {
  /** As the user gave it, such as {@code q72} or {@code blocks:200x200}. */
  String name();

  /**
   * Finds out whether it can run, and declares what it reads; not part of its time.
   *
   * @throws IOException if something that it reads is missing; the message says what makes it
   */
  void prepare(SparkSession spark) throws IOException;

  /** Runs it, until the result is at the driver. */
  JobResult run(SparkSession spark);
}
