/** The tab "RDMA" of Spark's user interface, live and in the history server. */
package dev.verbatim.shuffle.ui;
