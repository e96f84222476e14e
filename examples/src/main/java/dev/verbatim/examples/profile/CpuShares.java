package dev.verbatim.examples.profile;

import dev.verbatim.examples.profile.ProcessCpu.ThreadCpu;
import java.util.Collection;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Where the CPU time of one or several processes went, in seconds: what the kernel has counted, and
 * what samples say of it.
 */
final class CpuShares {
  /** The thread by which the stand-in does a card's work. */
  private static final String COPY = "standin-worker";

  /** Spark's threads that move blocks, both ends. */
  private static final String SPARK_TRANSFER = "shuffle-(client|server|chunk).*";

  private double cpu;
  private double sampled;
  private double copy;
  private double sparkTransfer;
  private double ours;
  private int samples;
  private int withoutStack;
  private int lost;
  private final Map<String, Double> parts = new TreeMap<>();
  private final Map<String, Double> methods = new TreeMap<>();
  private final Map<String, Double> ourThreads = new TreeMap<>();
  private final Map<String, Double> nativeThreads = new TreeMap<>();

  /**
   * Adds what one process did during one job.
   *
   * @param used as the kernel has counted it
   * @param seen its samples of that time
   * @param lostSamples those that are missing
   */
  void add(ProcessCpu used, Collection<Sample> seen, int lostSamples) {
    cpu += used.seconds();
    lost += lostSamples;
    Set<Long> java = new HashSet<>();
    for (Sample sample : seen) {
      java.add(sample.threadId());
      add(sample);
    }
    for (ThreadCpu thread : used.threads()) {
      String name = ThreadCpu.withoutNumber(thread.name());
      if (name.equals(COPY)) {
        copy += thread.seconds();
      } else if (name.matches(SPARK_TRANSFER)) {
        sparkTransfer += thread.seconds();
      } else if (name.startsWith("verbatim-")) {
        ourThreads.merge(name, thread.seconds(), Double::sum);
      }
      if (!java.contains(thread.id())) {
        nativeThreads.merge(name, thread.seconds(), Double::sum);
      }
    }
  }

  private void add(Sample sample) {
    samples++;
    sampled += sample.seconds();
    if (sample.frames().isEmpty()) {
      withoutStack++;
    }
    String part = sample.part();
    if (part != null) {
      ours += sample.seconds();
      parts.merge(part, sample.seconds(), Double::sum);
      methods.merge(part + " " + sample.method(), sample.seconds(), Double::sum);
    }
  }

  /** Adds what is in another one. */
  void add(CpuShares other) {
    cpu += other.cpu;
    sampled += other.sampled;
    copy += other.copy;
    sparkTransfer += other.sparkTransfer;
    ours += other.ours;
    samples += other.samples;
    withoutStack += other.withoutStack;
    lost += other.lost;
    other.parts.forEach((name, seconds) -> parts.merge(name, seconds, Double::sum));
    other.methods.forEach((name, seconds) -> methods.merge(name, seconds, Double::sum));
    other.ourThreads.forEach((name, seconds) -> ourThreads.merge(name, seconds, Double::sum));
    other.nativeThreads.forEach((name, seconds) -> nativeThreads.merge(name, seconds, Double::sum));
  }

  /** All of it, as the kernel counts. */
  double cpuSeconds() {
    return cpu;
  }

  int samples() {
    return samples;
  }

  int samplesWithoutStack() {
    return withoutStack;
  }

  int samplesLost() {
    return lost;
  }

  /** What samples stand for, in percent of all: the rest is not Java's, see {@link #natives}. */
  double sampledPercent() {
    return percent(sampled);
  }

  /** Verbatim's own code and threads, without the copy, in percent of all. */
  double oursPercent() {
    return percent(ours);
  }

  /** The stand-in's work in place of a card, in percent of all. */
  double copyPercent() {
    return percent(copy);
  }

  /** Spark's own threads for moving blocks, their copying included, in percent of all. */
  double sparkTransferPercent() {
    return percent(sparkTransfer);
  }

  /** {@link #oursPercent} by thread of ours, and by package on others' threads. */
  Map<String, Double> parts() {
    return percents(parts);
  }

  /** {@link #oursPercent} by part and innermost method of ours. */
  Map<String, Double> methods() {
    return percents(methods);
  }

  /** What the kernel has counted for threads of ours, in percent of all. */
  Map<String, Double> ourThreads() {
    return percents(ourThreads);
  }

  /** Threads without samples, such as the compilers' and collectors', in percent of all. */
  Map<String, Double> natives() {
    return percents(nativeThreads);
  }

  private Map<String, Double> percents(Map<String, Double> seconds) {
    Map<String, Double> percents = new TreeMap<>();
    seconds.forEach((name, value) -> percents.put(name, percent(value)));
    return percents;
  }

  private double percent(double seconds) {
    return cpu == 0 ? 0 : 100 * seconds / cpu;
  }
}
