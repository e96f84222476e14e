/** Latency and bandwidth between two hosts by the transport alone, without Spark. */
package dev.verbatim.examples.rdma;
