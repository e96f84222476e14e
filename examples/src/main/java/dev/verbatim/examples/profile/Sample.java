package dev.verbatim.examples.profile;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordedMethod;
import jdk.jfr.consumer.RecordedStackTrace;

/**
 * A thread that was seen running.
 *
 * @param thread its name, empty where it had ended
 * @param threadId the kernel's
 * @param frames {@code package.Class.method}, the innermost first; empty where no stack was found
 * @param seconds CPU time that it stands for
 */
record Sample(String thread, long threadId, List<String> frames, double seconds) {
  private static final String OURS = "dev.verbatim.";

  /** Whose the work is that others' code, such as the JDK's, does for its caller. */
  private static final Pattern DECIDES =
      Pattern.compile("(dev\\.verbatim|org\\.apache\\.spark)\\..*");

  private static final Pattern OWN_THREAD = Pattern.compile("verbatim-[a-z]+");
  private static final Pattern HIDDEN = Pattern.compile("[./+]0x\\p{XDigit}+.*");

  /** The programs of this module. */
  private static final String PROGRAMS = "dev.verbatim.examples.";

  static Sample of(RecordedEvent event) {
    List<String> frames = new ArrayList<>();
    RecordedStackTrace stack = event.getStackTrace();
    if (stack != null) {
      for (RecordedFrame frame : stack.getFrames()) {
        RecordedMethod method = frame.getMethod();
        // Lambdas have numbers that differ from process to process.
        String type = HIDDEN.matcher(method.getType().getName()).replaceFirst("");
        frames.add(type + "." + method.getName());
      }
    }
    var thread = event.getThread("eventThread");
    String name = thread == null || thread.getJavaName() == null ? "" : thread.getJavaName();
    return new Sample(
        name,
        thread == null ? -1 : thread.getOSThreadId(),
        List.copyOf(frames),
        event.getDuration("samplingPeriod").toNanos() / 1e9);
  }

  /**
   * What of Verbatim it ran, or null: all on a thread of Verbatim's, named {@code verbatim-...},
   * and elsewhere its methods and what they call, until the stack comes back to Spark. So neither
   * Spark's writer that ours calls nor the rows that a task takes from our reader count.
   *
   * @return the first two words of the thread's name, or the method's package
   */
  String part() {
    Matcher ownThread = OWN_THREAD.matcher(thread);
    if (ownThread.lookingAt()) {
      return ownThread.group();
    }
    String own = decidingFrame();
    if (own == null || !isOurs(own)) {
      return null;
    }
    String[] names = own.split("\\.");
    return names[names.length - 3];
  }

  /** The innermost method of ours, without its package, where there is a {@link #part}. */
  String method() {
    return frames.stream()
        .filter(Sample::isOurs)
        .findFirst()
        .map(Sample::shortName)
        .orElseGet(() -> frames.isEmpty() ? "no stack" : shortName(frames.getFirst()));
  }

  private String decidingFrame() {
    return frames.stream().filter(f -> DECIDES.matcher(f).matches()).findFirst().orElse(null);
  }

  private static boolean isOurs(String frame) {
    return frame.startsWith(OURS) && !frame.startsWith(PROGRAMS);
  }

  private static String shortName(String frame) {
    String[] names = frame.split("\\.");
    return names[names.length - 2] + "." + names[names.length - 1];
  }
}
