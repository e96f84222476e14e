package dev.verbatim.bench.registry;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.rpc.RpcAddress;

/**
 * The process of {@link SimulatedExecutors}, apart from the driver's so that CPU can be told apart.
 */
final class ExecutorsProcess implements AutoCloseable {
  private final Process process;
  private final PrintStream commands;
  private final BufferedReader answers;

  ExecutorsProcess(RpcAddress driver) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(System.getProperty("java.home") + "/bin/java");
    // The same flags: Spark's RPC needs them there too.
    ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
        .filter(flag -> !flag.startsWith("-Xmx"))
        .forEach(command::add);
    command.add("-Xmx1g");
    command.add(SimulatedExecutors.class.getName());
    command.add(driver.host());
    command.add(Integer.toString(driver.port()));
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().put("CLASSPATH", System.getProperty("java.class.path"));
    process = builder.redirectError(ProcessBuilder.Redirect.INHERIT).start();
    commands = new PrintStream(process.getOutputStream(), true, StandardCharsets.US_ASCII);
    answers =
        new BufferedReader(
            new InputStreamReader(process.getInputStream(), StandardCharsets.US_ASCII));
  }

  /** Has the executors do something, and answers how many bytes they sent or received for it. */
  long run(Object... command) throws IOException {
    List<String> words = new ArrayList<>();
    for (Object word : command) {
      words.add(word.toString());
    }
    commands.println(String.join(" ", words));
    for (String line = answers.readLine(); line != null; line = answers.readLine()) {
      if (line.startsWith("= ")) {
        return Long.parseLong(line.substring(2));
      }
    }
    throw new IOException("the executors' process ended in " + words);
  }

  @Override
  public void close() {
    commands.close();
    process.destroy();
  }
}
