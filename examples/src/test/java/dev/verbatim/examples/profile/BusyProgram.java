package dev.verbatim.examples.profile;

import java.nio.file.Path;

/** A process that keeps a thread of Verbatim's name, and one of another, busy for equally long. */
final class BusyProgram {
  private static final long NANOS = 700_000_000;

  private BusyProgram() {}

  public static void main(String[] folder) throws Exception {
    JobProfiler profiler = new JobProfiler(Path.of(folder[0]));
    burn("before"); // no job's
    profiler.start();
    burn("verbatim-test-0");
    burn("other");
    profiler.end("q1");
  }

  /** By one at a time, so that it takes no second processor. */
  private static void burn(String name) throws InterruptedException {
    Thread thread = new Thread(BusyProgram::work, name);
    thread.start();
    thread.join();
  }

  private static void work() {
    long end = System.nanoTime() + NANOS;
    while (System.nanoTime() < end) {
      Thread.onSpinWait();
    }
  }
}
