package dev.verbatim.bench;

import dev.verbatim.transport.FilePinMode;
import dev.verbatim.transport.MemoryRegion;
import dev.verbatim.transport.OpenResult;
import dev.verbatim.transport.RdmaTransport;
import dev.verbatim.transport.TransportConfig;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/**
 * Measures what it takes to map and register a map output whose pages are resident, since it was
 * just written, and to give it back.
 *
 * <pre>
 * RegisterFile DIRECTORY MEBIBYTES ROUNDS
 * </pre>
 */
public final class RegisterFile {
  private RegisterFile() {}

  public static void main(String[] args) throws Exception {
    long bytes = Long.parseLong(args[1]) << 20;
    int rounds = Integer.parseInt(args[2]);
    Path file = Files.createTempFile(Path.of(args[0]), "map-output-", ".data");
    try (RdmaTransport transport = open()) {
      write(file, bytes);
      FilePinMode mode = transport.probe(file.getParent());
      long[] registering = new long[rounds];
      long[] deregistering = new long[rounds];
      for (int round = 0; round < rounds; round++) {
        long before = transport.counters().registeredBytes();
        long start = System.nanoTime();
        List<MemoryRegion> regions = transport.registerFile(file, bytes, mode);
        long registered = System.nanoTime();
        if (transport.counters().registeredBytes() - before != bytes) {
          throw new AssertionError("registered " + transport.counters());
        }
        long closing = System.nanoTime();
        regions.forEach(MemoryRegion::close);
        registering[round] = registered - start;
        deregistering[round] = System.nanoTime() - closing;
      }
      System.out.printf("%d bytes of a file, %s, %d rounds%n", bytes, mode, rounds);
      report("registered", registering, bytes);
      report("given back", deregistering, bytes);
    } finally {
      Files.deleteIfExists(file);
    }
  }

  private static RdmaTransport open() throws IOException {
    return switch (RdmaTransport.open(new TransportConfig().localName("register"))) {
      case OpenResult.Opened opened -> opened.transport();
      case OpenResult.Unavailable none -> throw new IOException(none.toString());
    };
  }

  private static void write(Path file, long bytes) throws IOException {
    byte[] chunk = new byte[1 << 20];
    new Random(1).nextBytes(chunk);
    try (OutputStream out = Files.newOutputStream(file)) {
      for (long written = 0; written < bytes; written += chunk.length) {
        out.write(chunk);
      }
    }
  }

  private static void report(String what, long[] nanos, long bytes) {
    long first = nanos[0];
    Arrays.sort(nanos);
    long median = nanos[nanos.length / 2];
    System.out.printf(
        "%s in ms: first %.1f, min %.1f, median %.1f, max %.1f; %.2f s per GiB by the median%n",
        what,
        first / 1e6,
        nanos[0] / 1e6,
        median / 1e6,
        nanos[nanos.length - 1] / 1e6,
        median / 1e9 * (1L << 30) / bytes);
  }
}
