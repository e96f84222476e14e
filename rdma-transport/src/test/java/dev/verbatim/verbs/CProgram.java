package dev.verbatim.verbs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** A generated C program that prints the values of expressions as the real headers define them. */
final class CProgram {
  private static final String HEADERS =
      """
      #define _GNU_SOURCE
      #include <stddef.h>
      #include <stdio.h>
      #include <errno.h>
      #include <dlfcn.h>
      #include <fcntl.h>
      #include <poll.h>
      #include <unistd.h>
      #include <linux/mempolicy.h>
      #include <netinet/in.h>
      #include <sys/eventfd.h>
      #include <sys/mman.h>
      #include <sys/resource.h>
      #include <sys/syscall.h>
      #include <infiniband/verbs.h>
      #include <rdma/rdma_cma.h>
      """;

  private final Path directory;
  private final List<String> expressions = new ArrayList<>();

  CProgram(Path directory) {
    this.directory = directory;
  }

  void add(String expression) {
    expressions.add(expression);
  }

  /** Whether an expression means anything to the installed headers. */
  boolean compiles(String expression) throws Exception {
    return compile("probe", List.of(expression)).isEmpty();
  }

  /** The value of each expression. */
  Map<String, Long> run() throws Exception {
    String errors = compile("proof", expressions);
    if (!errors.isEmpty()) {
      throw new AssertionError(
          "gcc with libibverbs-dev and librdmacm-dev is needed (apt-get install gcc libibverbs-dev"
              + " librdmacm-dev), or -Dverbatim.skipHeaderProof=true; it said:\n"
              + errors);
    }
    Path output = directory.resolve("values");
    await(
        new ProcessBuilder(directory.resolve("proof").toString()).redirectOutput(output.toFile()));
    Map<String, Long> values = new LinkedHashMap<>();
    List<String> lines = Files.readAllLines(output);
    for (int i = 0; i < expressions.size(); i++) {
      values.put(expressions.get(i), Long.parseLong(lines.get(i)));
    }
    return values;
  }

  /** Compiles and answers the compiler's errors, empty for none. */
  private String compile(String name, List<String> all) throws Exception {
    StringBuilder program = new StringBuilder(HEADERS).append("int main(void) {\n");
    for (String expression : all) {
      program.append("  printf(\"%lld\\n\", (long long)(").append(expression).append("));\n");
    }
    program.append("  return 0;\n}\n");
    Path source = Files.writeString(directory.resolve(name + ".c"), program);
    Path errors = directory.resolve(name + ".err");
    try {
      int exit =
          await(
              new ProcessBuilder(
                      "gcc", "-O0", "-o", directory.resolve(name).toString(), source.toString())
                  .redirectErrorStream(true)
                  .redirectOutput(errors.toFile()));
      return exit == 0 ? "" : "exit " + exit + "\n" + Files.readString(errors);
    } catch (IOException e) {
      return e.getMessage();
    }
  }

  private static int await(ProcessBuilder builder) throws Exception {
    Process process = builder.start();
    if (!process.waitFor(60, TimeUnit.SECONDS)) {
      process.destroyForcibly();
      throw new AssertionError(builder.command() + " did not end within 60 s");
    }
    return process.exitValue();
  }
}
