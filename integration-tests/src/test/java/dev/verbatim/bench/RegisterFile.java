package dev.verbatim.bench;

import dev.verbatim.examples.ShortErrors;
import dev.verbatim.examples.report.Figure;
import dev.verbatim.transport.FilePinMode;
import dev.verbatim.transport.MemoryRegion;
import dev.verbatim.transport.OpenResult;
import dev.verbatim.transport.RdmaTransport;
import dev.verbatim.transport.RegistrationException;
import dev.verbatim.transport.TransportConfig;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/**
 * Measures what it takes to map and register a map output whose pages are resident, since it was
 * just written, and to give it back; and what it takes to copy it.
 */
@Command(name = "register", mixinStandardHelpOptions = true)
public final class RegisterFile implements Callable<Integer> {
  private static final int COPIED_AT_ONCE = 1 << 20;

  @Parameters(index = "0", description = "Folder for the map output.")
  private Path folder;

  @Parameters(index = "1", defaultValue = "1024", description = "MiB of the map output.")
  private long mebibytes;

  @Mixin private FigureOptions figures;

  public static void main(String[] arguments) {
    System.exit(ShortErrors.on(new CommandLine(new RegisterFile())).execute(arguments));
  }

  @Override
  public Integer call() throws IOException, RegistrationException {
    long bytes = mebibytes << 20;
    List<Double> registering = new ArrayList<>();
    List<Double> deregistering = new ArrayList<>();
    List<Double> copying = new ArrayList<>();
    Path file = Files.createTempFile(folder, "map-output-", ".data");
    try (RdmaTransport transport = open()) {
      write(file, bytes);
      FilePinMode mode = transport.probe(file.getParent());
      copyMillis(file, bytes); // touches the pages
      for (int round = 0; round < figures.rounds(); round++) {
        copying.add(copyMillis(file, bytes));
        long before = transport.counters().registeredBytes();
        long start = System.nanoTime();
        List<MemoryRegion> regions = transport.registerFile(file, bytes, mode);
        long registered = System.nanoTime();
        if (transport.counters().registeredBytes() - before != bytes) {
          throw new AssertionError("registered " + transport.counters());
        }
        long closing = System.nanoTime();
        regions.forEach(MemoryRegion::close);
        registering.add((registered - start) / 1e6);
        deregistering.add((System.nanoTime() - closing) / 1e6);
      }
      report("register", "mapping and registering", mode, registering, copying);
      report("deregister", "giving back", mode, deregistering, copying);
    } finally {
      Files.deleteIfExists(file);
    }
    return 0;
  }

  private void report(
      String name, String what, FilePinMode mode, List<Double> ours, List<Double> copying)
      throws IOException {
    figures.add(
        new Figure(
            name,
            what + " " + mebibytes + " MiB of a file whose pages are resident, mode " + mode,
            "ms",
            new Figure.Side("verbatim", ours),
            new Figure.Side("memcpy", copying),
            null,
            "memcpy goes to one MiB again and again, which the processor's cache holds: the least"
                + " that copying can cost",
            null));
  }

  /** Copies the mapped file piece by piece to the same place. */
  private static double copyMillis(Path file, long bytes) throws IOException {
    try (Arena arena = Arena.ofConfined();
        FileChannel channel = FileChannel.open(file)) {
      MemorySegment target = arena.allocate(COPIED_AT_ONCE);
      long start = System.nanoTime();
      MemorySegment source = channel.map(FileChannel.MapMode.READ_ONLY, 0, bytes, arena);
      for (long at = 0; at < bytes; at += COPIED_AT_ONCE) {
        target.copyFrom(source.asSlice(at, COPIED_AT_ONCE));
      }
      return (System.nanoTime() - start) / 1e6;
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
}
