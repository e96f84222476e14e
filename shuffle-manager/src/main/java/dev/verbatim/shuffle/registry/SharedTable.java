package dev.verbatim.shuffle.registry;

/** A table that all executors can get at. */
public interface SharedTable extends AutoCloseable {
  /** What an executor needs to get at it. */
  byte[] reference();

  /** Gives it up; who is getting it now fails. */
  @Override
  void close();
}
