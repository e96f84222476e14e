/** TPC-DS rows as Parquet, with Spark's own query texts and table definitions. */
package dev.verbatim.examples.tpcds;
