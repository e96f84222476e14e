package dev.verbatim.transport;

/** How the pages of a file may be registered, cheapest first. */
public enum FilePinMode {
  /** A read-only shared mapping can be registered (Linux 6.2 and later). */
  READ_ONLY_MAPPING,
  /**
   * Only a writable shared mapping can be; registering it marks its pages dirty (older kernels).
   */
  WRITABLE_MAPPING,
  /** Neither: the bytes must be copied into registered memory. */
  COPY
}
