/** The reduce side: finds blocks, READs them, falls back to Spark's own transfer. */
package dev.verbatim.shuffle.reader;
