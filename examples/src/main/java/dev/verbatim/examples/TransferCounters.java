package dev.verbatim.examples;

import org.apache.spark.sql.SparkSession;

/** Looks up how many bytes of an application's shuffles went by RDMA and by TCP. */
final class TransferCounters {
  private TransferCounters() {}

  /** The counts since the application started, null if its shuffle manager keeps none. */
  static TransferBytes read(SparkSession spark) {
    return null;
  }

  /** The growth since an earlier reading, null if that was. */
  static TransferBytes since(TransferBytes before, SparkSession spark) {
    TransferBytes now = read(spark);
    return before == null || now == null
        ? null
        : new TransferBytes(now.rdma() - before.rdma(), now.tcp() - before.tcp());
  }
}
