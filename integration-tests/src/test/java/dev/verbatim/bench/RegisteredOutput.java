package dev.verbatim.bench;

import dev.verbatim.transport.FilePinMode;
import dev.verbatim.transport.MemoryRegion;
import dev.verbatim.transport.OpenResult;
import dev.verbatim.transport.RdmaTransport;
import dev.verbatim.transport.RegistrationException;
import dev.verbatim.transport.TransportConfig;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/** A file that is registered, and copied, as an executor does it with a map output. */
final class RegisteredOutput implements AutoCloseable {
  /** Bytes of the slabs that an executor ends up with, and that it copies at once. */
  static final long SLAB = 16 << 20;

  /** Unmapping has to do with each thread of the process; an executor has some dozens. */
  private static final int IDLE_THREADS = 60;

  private final RdmaTransport transport;
  private final Path file;
  private final FilePinMode mode;

  /** Medians, nanoseconds. */
  record Cost(double registering, double removing) {
    double total() {
      return registering + removing;
    }
  }

  /**
   * Nanoseconds until the file has been copied and until the memory is given back, in all.
   *
   * @param packed as one of many in a slab, with a part of its cost
   * @param alone into a region of its own
   */
  record Copies(double packed, double alone) {}

  /**
   * @param folder for the file
   */
  RegisteredOutput(Path folder) throws IOException {
    transport =
        switch (RdmaTransport.open(new TransportConfig().localName("register"))) {
          case OpenResult.Opened opened -> opened.transport();
          case OpenResult.Unavailable none -> throw new IOException(none.toString());
        };
    for (int i = 0; i < IDLE_THREADS; i++) {
      Thread.ofPlatform().daemon(true).start(RegisteredOutput::idle);
    }
    file = Files.createTempFile(folder, "map-output-", ".data");
    mode = transport.probe(folder);
    if (mode == FilePinMode.COPY) {
      throw new IOException("files in " + folder + " cannot be registered");
    }
  }

  private static void idle() {
    while (true) {
      LockSupport.park();
    }
  }

  Path file() {
    return file;
  }

  FilePinMode mode() {
    return mode;
  }

  boolean isMappedForWriting() {
    return mode == FilePinMode.WRITABLE_MAPPING;
  }

  Cost inPlace(long bytes, int repeats) throws RegistrationException {
    double[] registering = new double[repeats];
    double[] removing = new double[repeats];
    for (int i = 0; i < repeats; i++) {
      long before = transport.counters().registeredBytes();
      long start = System.nanoTime();
      List<MemoryRegion> regions = transport.registerFile(file, bytes, mode);
      registering[i] = System.nanoTime() - start;
      if (transport.counters().registeredBytes() - before != bytes) {
        throw new AssertionError("registered " + transport.counters());
      }
      start = System.nanoTime();
      regions.forEach(MemoryRegion::close);
      removing[i] = System.nanoTime() - start;
    }
    return new Cost(median(registering), median(removing));
  }

  Copies copies(long bytes, int repeats) throws RegistrationException, IOException {
    return new Copies(bytes <= SLAB ? packed(bytes, repeats) : 0, alone(bytes, repeats));
  }

  /** The slab is filled more than once if it is small; its memory is used from the first on. */
  private double packed(long bytes, int repeats) throws RegistrationException, IOException {
    double[] copying = new double[repeats];
    long start = System.nanoTime();
    MemoryRegion slab = transport.allocate(SLAB);
    long slabNanos = System.nanoTime() - start;
    long at = 0;
    for (int i = 0; i < repeats; i++) {
      at = at + bytes > SLAB ? 0 : at;
      start = System.nanoTime();
      copy(slab, at, bytes);
      copying[i] = System.nanoTime() - start;
      at += bytes;
    }
    start = System.nanoTime();
    slab.close();
    slabNanos += System.nanoTime() - start;
    return median(copying) + (double) slabNanos * bytes / SLAB;
  }

  private double alone(long bytes, int repeats) throws RegistrationException, IOException {
    double[] nanos = new double[repeats];
    for (int i = 0; i < repeats; i++) {
      long start = System.nanoTime();
      MemoryRegion region = transport.allocate(bytes);
      copy(region, 0, bytes);
      region.close();
      nanos[i] = System.nanoTime() - start;
    }
    return median(nanos);
  }

  /** As an executor copies map outputs: by read(2). */
  private void copy(MemoryRegion region, long offset, long bytes) throws IOException {
    try (FileChannel channel = FileChannel.open(file)) {
      for (long done = 0; done < bytes; ) {
        long length = Math.min(SLAB, bytes - done);
        ByteBuffer target = region.segment().asSlice(offset + done, length).asByteBuffer();
        while (target.hasRemaining()) {
          if (channel.read(target, done + target.position()) < 0) {
            throw new IOException(file + " ends early");
          }
        }
        done += length;
      }
    }
  }

  private static double median(double[] values) {
    Arrays.sort(values);
    return values[values.length / 2];
  }

  @Override
  public void close() throws IOException {
    transport.close();
    Files.deleteIfExists(file);
  }
}
