package dev.verbatim.it.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.verbatim.it.machine.Iwarp;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The programs that show how to use the transport, as a stranger would copy them. */
class LibraryExampleDeviceTest extends DeviceTest {
  private static final String JAVADOC =
      "rdma-transport/src/main/java/dev/verbatim/transport/package-info.java";

  private static final String PAGE = "docs/transport-library.md";

  private final List<Process> started = new ArrayList<>();

  @TempDir private Path folder;

  @AfterEach
  void endProcesses() {
    started.forEach(Process::destroyForcibly);
  }

  @Test
  void shouldGreetAsInTheJavadoc() throws Exception {
    Iwarp.assumeAbsent("its WRITE has immediate data, which siw refuses");
    compile("Hello", inJavadoc());
    Process server = hello();
    BufferedReader output = server.inputReader();
    String[] address = lineWith(output, " ").split(" ");
    Process client = hello(address);
    assertTrue(client.waitFor(120, TimeUnit.SECONDS), "the client ends");
    assertEquals(0, client.exitValue());
    String said = new String(client.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertContains("WRITE 7 ended with SUCCESS", said);
    assertEquals("42: Hello, peer", lineWith(output, "Hello"));
    assertTrue(server.waitFor(120, TimeUnit.SECONDS), "the server ends");
    assertEquals(0, server.exitValue());
  }

  @Test
  void shouldFetchValuesAsOnThePage() throws Exception {
    compile("Values", onPage());
    Process process = run("Values");
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertTrue(process.waitFor(120, TimeUnit.SECONDS), "it ends");
    assertEquals(0, process.exitValue());
    assertContains("value of 7, value of 1023", said);
  }

  private static String onPage() throws IOException {
    String text = Files.readString(repository().resolve(PAGE));
    int from = text.indexOf("```java\n");
    int to = text.indexOf("```", from + 3);
    assertTrue(from > 0 && to > from, "there is an example");
    return text.substring(text.indexOf('\n', from), to);
  }

  /** The block of code in the comment, without the comment's stars. */
  private static String inJavadoc() throws IOException {
    String text = Files.readString(repository().resolve(JAVADOC));
    int from = text.indexOf("<pre>{@code");
    int to = text.indexOf("}</pre>");
    assertTrue(from > 0 && to > from, "there is an example");
    return text.substring(text.indexOf('\n', from), to)
        .lines()
        .map(line -> line.replaceFirst("^ \\* ?", ""))
        .collect(Collectors.joining("\n"));
  }

  private static Path repository() {
    // The classes are in integration-tests/target/test-classes, in a guest too.
    for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
      Path path = Path.of(entry).toAbsolutePath();
      if (path.endsWith("integration-tests/target/test-classes")) {
        return path.getParent().getParent().getParent();
      }
    }
    throw new AssertionError("the tests' classes are not where the build puts them");
  }

  private void compile(String program, String source) throws IOException {
    Path file = Files.writeString(folder.resolve(program + ".java"), source);
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    assertNotNull(compiler, "a JDK, not a runtime alone");
    int result =
        compiler.run(
            null,
            null,
            null,
            "-cp",
            System.getProperty("java.class.path"),
            "-d",
            folder.toString(),
            file.toString());
    assertEquals(0, result, "it compiles");
  }

  private Process hello(String... arguments) throws IOException {
    return run("Hello", arguments);
  }

  private Process run(String program, String... arguments) throws IOException {
    String classPath = folder + File.pathSeparator + System.getProperty("java.class.path");
    Process process = RegionServer.java(classPath, program, List.of(arguments)).start();
    started.add(process);
    return process;
  }

  /** The next line with some text; a logger may write others. */
  private static String lineWith(BufferedReader output, String part) throws IOException {
    for (String line = output.readLine(); line != null; line = output.readLine()) {
      if (line.contains(part) && !line.contains("dev.verbatim")) {
        return line;
      }
    }
    throw new AssertionError("the program has ended without a line with \"" + part + "\"");
  }
}
