package dev.verbatim.examples;

import org.apache.spark.sql.SparkSession;

/** What is run under each shuffle manager, and gives a result that can be compared. */
interface Job {
  /** As the user gave it, such as {@code q72} or {@code blocks:200x200}. */
  String name();

  /** Declares what it reads; not part of its time. */
  void prepare(SparkSession spark);

  /** Runs it, until the result is at the driver. */
  JobResult run(SparkSession spark);
}
