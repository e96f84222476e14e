package dev.verbatim.examples;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.spark.launcher.JavaModuleOptions;

/** Starts a Spark driver as a child process with the flags that Spark needs on this JDK. */
final class SparkJvm {
  private static final int SHOWN_LOG_BYTES = 4000;
  private static final Duration STOP_PATIENCE = Duration.ofSeconds(10);

  /** Hears what the child prints, in the thread that waits for it. */
  interface Output {
    void line(String text) throws IOException;

    /** About once a second while nothing is printed. */
    void second();
  }

  /** The child failed, or was ended because it was silent for too long. */
  static final class FailedException extends IOException {
    private static final long serialVersionUID = 1;

    private final String reason;

    FailedException(String reason, String logEnd) {
      super(reason + "; it ends with:\n" + logEnd);
      this.reason = reason;
    }

    /** The message without the log's end. */
    String reason() {
      return reason;
    }
  }

  private final String memory;
  private final List<String> flags;
  private final Duration silence;

  /**
   * @param memory heap size such as {@code 1g}
   * @param flags further JVM flags
   * @param silence the child is ended when it has printed nothing for this time
   */
  SparkJvm(String memory, List<String> flags, Duration silence) {
    this.memory = memory;
    this.flags = flags;
    this.silence = silence;
  }

  /**
   * Runs a main class on this process's class path.
   *
   * @param log file that its standard error is added to
   * @param output hears what it prints
   * @throws FailedException if it fails or is silent for too long
   * @throws InterruptedException also if this program is being ended, and the child with it
   */
  void run(String mainClass, List<String> arguments, Path log, Output output)
      throws IOException, InterruptedException {
    ProcessBuilder builder = new ProcessBuilder(command(mainClass, arguments));
    builder.environment().putIfAbsent("SPARK_SCALA_VERSION", "2.13");
    builder.redirectError(ProcessBuilder.Redirect.appendTo(log.toFile()));
    Process process = builder.start();
    Thread ending = new Thread(process::destroy);
    endWithThisProgram(process, ending);
    try {
      if (!follow(process, output) || !process.waitFor(silence.toSeconds(), TimeUnit.SECONDS)) {
        throw failure("told nothing for " + silence.toMinutes() + " minutes (--timeout)", log);
      }
      if (process.exitValue() != 0) {
        throw failure("ended with exit code " + process.exitValue(), log);
      }
    } finally {
      end(process);
      forget(ending);
    }
  }

  /** Until its output ends; false if it is silent for too long. */
  private boolean follow(Process process, Output output) throws IOException, InterruptedException {
    BlockingQueue<Optional<String>> lines = new LinkedBlockingQueue<>();
    Thread.ofVirtual()
        .start(
            () -> {
              try (BufferedReader reader = process.inputReader(StandardCharsets.UTF_8)) {
                reader.lines().map(Optional::of).forEach(lines::add);
              } catch (IOException | UncheckedIOException e) {
                // It has ended.
              } finally {
                lines.add(Optional.empty());
              }
            });
    long heard = System.nanoTime();
    while (System.nanoTime() - heard < silence.toNanos()) {
      Optional<String> line = lines.poll(1, TimeUnit.SECONDS);
      if (line == null) {
        output.second();
      } else if (line.isPresent()) {
        heard = System.nanoTime();
        output.line(line.get());
      } else {
        return true;
      }
    }
    return false;
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

  private static void endWithThisProgram(Process process, Thread ending)
      throws InterruptedException {
    try {
      Runtime.getRuntime().addShutdownHook(ending);
    } catch (IllegalStateException e) { // it has begun to end since the child was started
      process.destroy();
      throw beingEnded();
    }
  }

  private static void forget(Thread ending) throws InterruptedException {
    try {
      Runtime.getRuntime().removeShutdownHook(ending);
    } catch (IllegalStateException e) {
      throw beingEnded();
    }
  }

  private static InterruptedException beingEnded() {
    return new InterruptedException("this program is being ended");
  }

  private static FailedException failure(String what, Path log) throws IOException {
    return new FailedException(
        "The Spark application "
            + what
            + "; its log is "
            + log
            + ", executors log below $SPARK_HOME/work",
        tail(log));
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
