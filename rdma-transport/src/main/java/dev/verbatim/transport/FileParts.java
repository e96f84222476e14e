package dev.verbatim.transport;

import java.util.ArrayList;
import java.util.List;

/**
 * Where a file is cut into regions. A mapping starts at a multiple of the page size, which is 4, 16
 * or 64 KiB by machine, so all parts but the last are whole pages.
 */
final class FileParts {
  private FileParts() {}

  /**
   * @param offset in the file, bytes, a multiple of the page size
   * @param length bytes
   */
  record Part(long offset, long length) {}

  /**
   * The length of all parts but the last.
   *
   * @param mostRegionBytes the device's limit; one page where that is less
   * @param pageSize bytes
   */
  static long step(long mostRegionBytes, long pageSize) {
    return Math.max(pageSize, mostRegionBytes / pageSize * pageSize);
  }

  /**
   * The parts, in order.
   *
   * @param length of the file, bytes, from 1
   */
  static List<Part> of(long length, long step) {
    List<Part> parts = new ArrayList<>();
    long offset = 0;
    while (offset < length) {
      long bytes = Math.min(step, length - offset);
      parts.add(new Part(offset, bytes));
      offset += bytes;
    }
    return parts;
  }
}
