package dev.verbatim.transport;

/** Where the pool gets registered memory from. */
@FunctionalInterface
interface SlabSource {
  /**
   * @param bytes a multiple of the page size
   */
  Slab create(long bytes) throws RegistrationException;
}
