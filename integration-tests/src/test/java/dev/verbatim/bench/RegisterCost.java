package dev.verbatim.bench;

import dev.verbatim.examples.ShortErrors;
import dev.verbatim.examples.report.Figure;
import dev.verbatim.transport.RegistrationException;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.function.ToDoubleFunction;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * Measures the ways to make a map output readable for peers, whose pages are resident since it was
 * just written, and to take that back: registered in place, and copied into registered memory. For
 * each size this process and a counterpart in C take turns.
 */
@Command(name = "register-cost", mixinStandardHelpOptions = true)
public final class RegisterCost implements Callable<Integer> {
  private static final long SMALLEST = 4 << 10;
  private static final int WARM_UPS = 600;

  /** Each round has a median of so many, which together have so many bytes. */
  private static final int MOST_REPEATS = 200;

  private static final long REPEATED_BYTES = 64 << 20;

  @Parameters(description = "Folder for the map output.")
  private Path folder;

  @Option(names = "--program", required = true, description = "The counterpart in C.")
  private Path program;

  @Option(names = "--sizes", required = true, split = ",", description = "Bytes of a map output.")
  private List<Long> sizes;

  @Option(names = "--note", description = "What is to be known of this device.")
  private String note;

  @Option(names = "--prefix", defaultValue = "", description = "What names of figures begin with.")
  private String prefix;

  @Mixin private FigureOptions figures;

  /**
   * One round of one size, nanoseconds; those of C without what is not measured there.
   *
   * @param inPlace ours: mapping and registering, and removing
   * @param copies ours: copied into registered memory
   * @param c mapping and registering, removing, and memcpy
   */
  private record Round(RegisteredOutput.Cost inPlace, RegisteredOutput.Copies copies, InC c) {}

  private record InC(double registering, double removing, double memcpy) {}

  public static void main(String[] arguments) {
    System.exit(ShortErrors.on(new CommandLine(new RegisterCost())).execute(arguments));
  }

  @Override
  public Integer call() throws IOException, InterruptedException, RegistrationException {
    try (RegisteredOutput output = new RegisteredOutput(folder)) {
      write(output.file(), SMALLEST);
      output.inPlace(SMALLEST, WARM_UPS);
      output.copies(SMALLEST, WARM_UPS);
      for (long size : sizes) {
        write(output.file(), size);
        List<Round> rounds = new ArrayList<>();
        for (int i = 0; i < figures.rounds(); i++) {
          rounds.add(round(output, size, i % 2 == 0));
        }
        report(size, output.mode().toString(), rounds);
      }
    }
    return 0;
  }

  private Round round(RegisteredOutput output, long size, boolean cFirst)
      throws IOException, InterruptedException, RegistrationException {
    int repeats = Math.clamp(REPEATED_BYTES / size, 1, MOST_REPEATS);
    InC before = cFirst ? inC(output, size, repeats) : null;
    RegisteredOutput.Cost inPlace = output.inPlace(size, repeats);
    RegisteredOutput.Copies copies = output.copies(size, repeats);
    return new Round(inPlace, copies, cFirst ? before : inC(output, size, repeats));
  }

  private InC inC(RegisteredOutput output, long size, int repeats)
      throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(
                program.toString(),
                output.file().toString(),
                String.valueOf(size),
                String.valueOf(repeats),
                output.isMappedForWriting() ? "rw" : "ro")
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    String line = new String(process.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
    if (process.waitFor() != 0) {
      throw new IOException(program + " failed");
    }
    String[] nanos = line.trim().split(" ");
    return new InC(
        Double.parseDouble(nanos[0]), Double.parseDouble(nanos[1]), Double.parseDouble(nanos[2]));
  }

  private void report(long size, String mode, List<Round> rounds) throws IOException {
    add(
        "register",
        "Mapping and registering",
        "a resident file, mode " + mode,
        size,
        side("verbatim", rounds, round -> round.inPlace().registering()),
        side("C", rounds, round -> round.c().registering()));
    add(
        "deregister",
        "Deregistering and unmapping",
        "the same",
        size,
        side("verbatim", rounds, round -> round.inPlace().removing()),
        side("C", rounds, round -> round.c().removing()));
    add(
        "register-or-memcpy",
        "Mapping and registering, or memcpy of",
        "the same",
        size,
        side("registered", rounds, round -> round.inPlace().registering()),
        side("memcpy", rounds, round -> round.c().memcpy()));
    boolean fits = size <= RegisteredOutput.SLAB;
    add(
        "in-place-or-copied",
        "A map output in place, or copied, and removed again,",
        fits ? "with its part of a slab of 16 MiB" : "with a region of its own",
        size,
        side("in place", rounds, round -> round.inPlace().total()),
        side("copied", rounds, round -> fits ? round.copies().packed() : round.copies().alone()));
    if (fits) {
      add(
          "packed-or-alone",
          "A map output copied into a slab of 16 MiB, or into a region of its own, and removed,",
          "with its part of the slab",
          size,
          side("packed", rounds, round -> round.copies().packed()),
          side("alone", rounds, round -> round.copies().alone()));
    }
  }

  private void add(
      String name, String what, String of, long size, Figure.Side ours, Figure.Side against)
      throws IOException {
    figures.add(
        new Figure(
            prefix + name + "-" + shortened(size),
            what + " " + shortened(size) + " of " + of,
            "us",
            ours,
            against,
            List.of(),
            note,
            new Figure.Point(what, "bytes", size)));
  }

  private static Figure.Side side(String label, List<Round> rounds, ToDoubleFunction<Round> nanos) {
    return new Figure.Side(
        label, rounds.stream().mapToDouble(nanos).map(value -> value / 1e3).boxed().toList());
  }

  private static String shortened(long bytes) {
    int steps = Math.min(3, (63 - Long.numberOfLeadingZeros(bytes)) / 10);
    return (bytes >> 10 * steps) + List.of("B", "KiB", "MiB", "GiB").get(steps);
  }

  private static void write(Path file, long bytes) throws IOException {
    byte[] chunk = new byte[(int) Math.min(bytes, 1 << 20)];
    new Random(1).nextBytes(chunk);
    try (OutputStream out = Files.newOutputStream(file)) {
      for (long written = 0; written < bytes; written += chunk.length) {
        out.write(chunk, 0, (int) Math.min(chunk.length, bytes - written));
      }
    }
  }
}
