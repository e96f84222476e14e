package dev.verbatim.transport;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Makes memory that is mapped and registered: regions for peers to read, slabs for the pool. */
final class MemoryManager {
  private static final Logger LOG = LoggerFactory.getLogger(MemoryManager.class);

  private final Mappings mappings;
  private final Registrar registrar;
  private final boolean hugePages;
  private final NodeMemory node;

  /**
   * @param node that fresh memory comes from, if that can be
   */
  MemoryManager(Mappings mappings, Registrar registrar, boolean hugePages, NodeMemory node) {
    this.mappings = mappings;
    this.registrar = registrar;
    this.hugePages = hugePages;
    this.node = node;
  }

  MemoryRegion allocate(long bytes) throws RegistrationException {
    if (bytes < 1) {
      throw new IllegalArgumentException("bytes = " + bytes + " is out of range: from 1");
    }
    return anonymous(Pages.roundUp(bytes), registrar::registerRegion);
  }

  /**
   * Fresh anonymous memory with the access that its user wants.
   *
   * @param access {@code IBV_ACCESS_*}
   */
  MemoryRegion allocate(long bytes, int access) throws RegistrationException {
    return anonymous(
        Pages.roundUp(bytes), (memory, arena) -> registrar.registerRegion(memory, arena, access));
  }

  /** How mapped memory is registered. */
  private interface Registration<T> {
    T of(MemorySegment memory, Arena arena) throws RegistrationException;
  }

  private <T> T anonymous(long bytes, Registration<T> registration) throws RegistrationException {
    Arena arena = Arena.ofShared();
    try {
      MemorySegment memory = mappings.anonymous(bytes, hugePages, arena);
      node.prefer(memory); // before registration, which touches each page
      return registration.of(memory, arena);
    } catch (Throwable e) {
      Mappings.release(arena);
      boolean again =
          e instanceof RegistrationException reason
              && reason.kind() == RegistrationException.Kind.NOT_PINNABLE
              && mappings.giveUpReservedPages();
      if (!again) {
        throw e;
      }
      LOG.info("Reserved huge pages cannot be pinned, ordinary ones are used: {}", e.getMessage());
    }
    return anonymous(bytes, registration);
  }

  List<MemoryRegion> registerFile(Path file, long length, FilePinMode mode)
      throws RegistrationException {
    if (length < 1) {
      throw new IllegalArgumentException("length = " + length + " is out of range: from 1");
    }
    if (mode == FilePinMode.COPY) {
      throw new IllegalArgumentException("a file that must be copied cannot be registered");
    }
    List<MemoryRegion> regions = new ArrayList<>();
    try (FileChannel channel = Mappings.open(file, length, mode)) {
      for (FileParts.Part part : FileParts.of(length, registrar.mostRegionBytes())) {
        regions.add(mapRegion(file, channel, part, mode));
      }
      return regions;
    } catch (IOException e) {
      regions.forEach(MemoryRegion::close);
      throw new RegistrationException(RegistrationException.Kind.FILE, file + ": " + e, e);
    } catch (Throwable e) {
      regions.forEach(MemoryRegion::close);
      throw e;
    }
  }

  private MemoryRegion mapRegion(
      Path file, FileChannel channel, FileParts.Part part, FilePinMode mode)
      throws RegistrationException {
    Arena arena = Arena.ofShared();
    try {
      return registrar.registerRegion(
          mappings.file(file, channel, part.offset(), part.length(), mode, arena), arena);
    } catch (Throwable e) {
      Mappings.release(arena);
      throw e;
    }
  }

  /** A slab for the pool. */
  Slab slab(long bytes) throws RegistrationException {
    return anonymous(
        bytes,
        (memory, arena) -> {
          Registrar.Registration registration = registrar.registerSink(memory);
          return new Slab(
              memory, registration.lkey(), () -> registrar.release(registration, arena));
        });
  }

  /** Tries how files of a directory may be registered, on a small file that is deleted again. */
  FilePinMode probe(Path directory) {
    Path file = null;
    try {
      file = Files.createTempFile(directory, "verbatim-probe-", ".tmp");
      byte[] content = new byte[(int) (2 * Pages.size())];
      Files.write(file, content);
      for (FilePinMode mode :
          new FilePinMode[] {FilePinMode.READ_ONLY_MAPPING, FilePinMode.WRITABLE_MAPPING}) {
        if (canRegister(file, content.length, mode)) {
          return mode;
        }
      }
    } catch (IOException e) {
      LOG.warn("{}: no probe file can be written: {}", directory, e.toString());
    } finally {
      delete(file);
    }
    return FilePinMode.COPY;
  }

  private boolean canRegister(Path file, long length, FilePinMode mode) {
    try {
      registerFile(file, length, mode).forEach(MemoryRegion::close);
      return true;
    } catch (RegistrationException e) {
      LOG.info("Files in {} cannot be used by {}: {}", file.getParent(), mode, e.getMessage());
      return false;
    }
  }

  private static void delete(Path file) {
    try {
      if (file != null) {
        Files.deleteIfExists(file);
      }
    } catch (IOException e) {
      LOG.debug("{} stays: {}", file, e.toString());
    }
  }
}
