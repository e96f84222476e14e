/** Settings: declared once, read from Spark's configuration and from rdma-site.xml. */
package dev.verbatim.shuffle.conf;
