/** The shuffle manager for Spark, and the two sides it has: driver and executor. */
package dev.verbatim.shuffle;
