/** What was moved by RDMA and by TCP, and the report of it. */
package dev.verbatim.shuffle.metrics;
