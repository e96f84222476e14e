package dev.verbatim.shuffle.registry;

import java.util.List;

/** A way to give a large table to all executors that does not cost the driver a copy for each. */
public interface TableSharing {
  /** Tables smaller than this are not worth it, bytes. */
  long leastBytes();

  /**
   * Shares a table; may take its time.
   *
   * @param chunks encoded messages, each with a part of it
   */
  SharedTable share(List<byte[]> chunks);
}
