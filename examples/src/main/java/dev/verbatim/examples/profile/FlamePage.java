package dev.verbatim.examples.profile;

import dev.verbatim.examples.profile.ProcessCpu.ThreadCpu;
import java.io.IOException;
import java.io.PrintStream;
import java.io.StringReader;
import java.nio.file.Path;
import java.util.Collection;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import one.convert.Arguments;
import one.convert.FlameGraph;

/**
 * A flame graph of CPU time, as a page that needs nothing else: from the process and the thread, on
 * top, down to the innermost method, and the threads that run no Java.
 */
final class FlamePage {
  private static final String OURS = "dev/verbatim/(?!examples)|verbatim-";

  /** By frames, the outermost first, with semicolons between. */
  private final Map<String, Double> seconds = new TreeMap<>();

  /**
   * Adds what one process did during one job.
   *
   * @param role the outermost frame
   */
  void add(String role, ProcessCpu used, Collection<Sample> samples) {
    Set<Long> java = new HashSet<>();
    for (Sample sample : samples) {
      java.add(sample.threadId());
      StringBuilder stack = new StringBuilder(role).append(";[").append(group(sample.thread()));
      stack.append(']');
      for (String frame : sample.frames().reversed()) {
        stack.append(';').append(drawn(frame));
      }
      seconds.merge(stack.toString(), sample.seconds(), Double::sum);
    }
    for (ThreadCpu thread : used.threads()) {
      if (!java.contains(thread.id())) {
        String stack = role + ";[not Java];[" + group(thread.name()) + "]";
        seconds.merge(stack, thread.seconds(), Double::sum);
      }
    }
  }

  /** Threads that differ by a number or a task alone are drawn as one. */
  private static String group(String thread) {
    String group = thread.replaceFirst("^Executor task launch worker.*", "task");
    return ThreadCpu.withoutNumber(group).replace(';', ' ');
  }

  /** The converter knows methods of Java by the slashes in their names. */
  private static String drawn(String frame) {
    int method = frame.lastIndexOf('.');
    return frame.substring(0, method).replace('.', '/') + frame.substring(method);
  }

  /** Writes the page; Verbatim's frames are marked. */
  void write(Path file, String title) throws IOException {
    StringBuilder collapsed = new StringBuilder();
    seconds.forEach(
        (stack, value) ->
            collapsed.append(stack).append(' ').append(Math.round(value * 1e6)).append('\n'));
    Arguments arguments =
        new Arguments("--title", title, "--highlight", OURS, "--minwidth", "0.02", "--inverted");
    FlameGraph graph = new FlameGraph(arguments);
    graph.parseCollapsed(new StringReader(collapsed.toString()));
    try (PrintStream out = new PrintStream(file.toFile())) {
      graph.dump(out);
    }
  }
}
