package dev.verbatim.examples;

import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.spark.launcher.JavaModuleOptions;

/** Starts a Spark driver as a child process with the flags that Spark needs on this JDK. */
final class SparkJvm {
  private static final int SHOWN_LOG_BYTES = 4000;
  private static final Duration STOP_PATIENCE = Duration.ofSeconds(10);

  private final String memory;
  private final List<String> flags;
  private final Duration limit;

  /**
   * @param memory heap size such as {@code 1g}
   * @param flags further JVM flags
   * @param limit the child is ended after this time
   */
  SparkJvm(String memory, List<String> flags, Duration limit) {
    this.memory = memory;
    this.flags = flags;
    this.limit = limit;
  }

  /**
   * Runs a main class on this process's class path; its standard output goes to ours.
   *
   * @param log file for its standard error
   * @throws IOException if it fails or takes too long; the message holds the end of the log
   */
  void run(String mainClass, List<String> arguments, Path log)
      throws IOException, InterruptedException {
    ProcessBuilder builder = new ProcessBuilder(command(mainClass, arguments));
    builder.environment().putIfAbsent("SPARK_SCALA_VERSION", "2.13");
    builder.redirectOutput(ProcessBuilder.Redirect.INHERIT);
    builder.redirectError(log.toFile());
    Process process = builder.start();
    Thread ending = new Thread(process::destroy);
    Runtime.getRuntime().addShutdownHook(ending);
    try {
      if (!process.waitFor(limit.toSeconds(), TimeUnit.SECONDS)) {
        throw failure("took longer than " + limit.toMinutes() + " minutes (--timeout)", log);
      }
      if (process.exitValue() != 0) {
        throw failure("ended with exit code " + process.exitValue(), log);
      }
    } finally {
      end(process);
      Runtime.getRuntime().removeShutdownHook(ending);
    }
  }

  private List<String> command(String mainClass, List<String> arguments) {
    List<String> command = new ArrayList<>();
    command.add(System.getProperty("java.home") + File.separator + "bin" + File.separator + "java");
    command.add("-Xmx" + memory);
    command.addAll(List.of(JavaModuleOptions.defaultModuleOptionArray()));
    command.addAll(flags);
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), mainClass));
    command.addAll(arguments);
    return command;
  }

  /** Asks first, so that Spark ends its executors. */
  private static void end(Process process) throws InterruptedException {
    process.destroy();
    if (!process.waitFor(STOP_PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
      process.destroyForcibly();
    }
  }

  private static IOException failure(String what, Path log) throws IOException {
    return new IOException(
        "The Spark application "
            + what
            + ". The end of its log "
            + log
            + " (executors log below $SPARK_HOME/work):\n"
            + tail(log));
  }

  private static String tail(Path log) throws IOException {
    try (RandomAccessFile file = new RandomAccessFile(log.toFile(), "r")) {
      long from = Math.max(0, file.length() - SHOWN_LOG_BYTES);
      byte[] bytes = new byte[(int) (file.length() - from)];
      file.seek(from);
      file.readFully(bytes);
      return new String(bytes, StandardCharsets.UTF_8);
    }
  }
}
