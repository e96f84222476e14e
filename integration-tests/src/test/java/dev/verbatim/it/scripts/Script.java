package dev.verbatim.it.scripts;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Runs a script of the folder {@code scripts} as an operator would, with what a test changes around
 * it.
 */
final class Script {
  /** What a script left behind. */
  record Result(int exitCode, String output, String errors) {
    Result exits(int expected) {
      assertEquals(expected, exitCode, () -> output + errors);
      return this;
    }

    Result says(String... texts) {
      for (String text : texts) {
        assertTrue(
            (output + errors).contains(text), () -> "no '" + text + "' in\n" + output + errors);
      }
      return this;
    }
  }

  /** Of this repository. */
  static final Path ROOT = root();

  private static final long MINUTES = 10;

  private final Path script;
  private final Path folder;
  private final Map<String, String> environment = new LinkedHashMap<>();

  Script(String name, Path folder) {
    this(ROOT.resolve("scripts").resolve(name), folder);
  }

  /** A script of another checkout. */
  Script(Path script, Path folder) {
    this.script = script;
    this.folder = folder;
  }

  private static Path root() {
    Path folder = Path.of("").toAbsolutePath();
    while (!Files.exists(folder.resolve("mvnw"))) {
      folder = folder.getParent();
    }
    return folder;
  }

  /** A file or folder of this package's recordings and stand-in programs. */
  static Path resource(String name) {
    return ROOT.resolve("integration-tests/src/test/resources").resolve(name);
  }

  /** Writes a program that can be run, and the folders above it. */
  static Path program(Path file, String text) throws IOException {
    Files.createDirectories(file.getParent());
    Files.writeString(file, text);
    assertTrue(file.toFile().setExecutable(true));
    return file;
  }

  Script with(String variable, Object value) {
    environment.put(variable, value.toString());
    return this;
  }

  Script without(String variable) {
    environment.put(variable, null);
    return this;
  }

  /** Puts a program before all others, under each of the names. */
  Script withProgram(Path program, String... names) throws IOException {
    Path programs = Files.createDirectories(folder.resolve("programs"));
    for (String name : names) {
      Files.copy(
          program,
          programs.resolve(name),
          StandardCopyOption.REPLACE_EXISTING,
          StandardCopyOption.COPY_ATTRIBUTES);
    }
    return with("PATH", programs + File.pathSeparator + System.getenv("PATH"));
  }

  /** Nothing can be found but bash's own, what a script needs of the system, and these. */
  Script withNothingBut(String... names) throws IOException {
    Path programs = Files.createDirectories(folder.resolve("only"));
    for (String name : names) {
      for (String place : System.getenv("PATH").split(File.pathSeparator)) {
        Path program = Path.of(place, name);
        Path start = programs.resolve(name);
        if (Files.isExecutable(program) && !Files.exists(start)) {
          program(start, "#!/bin/sh\nexec " + program + " \"$@\"\n");
        }
      }
    }
    return with("PATH", programs);
  }

  Process start(Path log, String... arguments) throws IOException {
    return builder(arguments).redirectErrorStream(true).redirectOutput(log.toFile()).start();
  }

  Result run(String... arguments) throws IOException, InterruptedException {
    Path output = Files.createTempFile(folder, "script", ".out");
    Path errors = Files.createTempFile(folder, "script", ".err");
    Process process =
        builder(arguments).redirectOutput(output.toFile()).redirectError(errors.toFile()).start();
    process.getOutputStream().close();
    boolean ended = process.waitFor(MINUTES, TimeUnit.MINUTES);
    process.destroyForcibly();
    assertTrue(ended, () -> script + " does not end");
    return new Result(process.exitValue(), Files.readString(output), Files.readString(errors));
  }

  private ProcessBuilder builder(String... arguments) {
    List<String> words = new ArrayList<>(List.of("/bin/bash", script.toString()));
    words.addAll(List.of(arguments));
    ProcessBuilder builder = new ProcessBuilder(words).directory(folder.toFile());
    environment.forEach(
        (variable, value) -> {
          if (value == null) {
            builder.environment().remove(variable);
          } else {
            builder.environment().put(variable, value);
          }
        });
    return builder;
  }
}
