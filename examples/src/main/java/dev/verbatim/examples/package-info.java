/** Whole programs that run on Spark with and without Verbatim. */
package dev.verbatim.examples;
