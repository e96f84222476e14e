package dev.verbatim.examples;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.verbatim.examples.profile.JobProfiler;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeoutException;
import org.apache.spark.SparkEnv;
import org.apache.spark.sql.SparkSession;

/**
 * The Spark application that {@link CompareShuffles} starts once per shuffle manager, in a JVM of
 * its own so that none profits from code that another has warmed up.
 */
final class JobApplication {
  private static final Duration LISTENER_PATIENCE = Duration.ofMinutes(1);

  private final ApplicationRequest request;
  private final ShuffleBytesListener listener = new ShuffleBytesListener();

  private JobApplication(ApplicationRequest request) {
    this.request = request;
  }

  /** Reads the request from the first file, writes the report to the second. */
  public static void main(String[] files) throws Exception {
    ObjectMapper json = new ObjectMapper();
    ApplicationRequest request =
        json.readValue(Path.of(files[0]).toFile(), ApplicationRequest.class);
    ApplicationReport report = new JobApplication(request).run();
    json.writeValue(Path.of(files[1]).toFile(), report);
  }

  /** The jar, or folder, with the classes of the jobs. */
  static Path jar() {
    return Path.of(
        URI.create(
            JobApplication.class.getProtectionDomain().getCodeSource().getLocation().toString()));
  }

  private ApplicationReport run() throws IOException, TimeoutException {
    SparkSession.Builder builder =
        SparkSession.builder().appName("Shuffle by " + request.label()).master(request.master());
    request.configuration().forEach(builder::config);
    say("starting Spark, %s", request.master());
    try (SparkSession spark = builder.getOrCreate()) {
      spark.sparkContext().addSparkListener(listener);
      List<Job> jobs = prepared(spark);
      warmUp(spark);
      List<JobReport> reports = new ArrayList<>();
      JobProfiler profiler = request.profile() == null ? null : new JobProfiler(request.profile());
      for (Job job : jobs) {
        if (profiler == null) {
          reports.add(run(spark, job));
        } else {
          profiler.start();
          reports.add(run(spark, job));
          profiler.end(job.name());
        }
      }
      String manager = SparkEnv.get().shuffleManager().getClass().getName();
      return new ApplicationReport(
          request.label(),
          manager,
          TransferCounters.modes(),
          TransferCounters.fallbacks(),
          reports);
    }
  }

  /** All jobs, ready to run. */
  private List<Job> prepared(SparkSession spark) throws IOException {
    JobNames names = new JobNames(request.tpcdsJar(), request.data(), request.keepLimit());
    List<Job> jobs = new ArrayList<>();
    for (String name : request.jobs()) {
      Job job = names.parse(name);
      job.prepare(spark);
      jobs.add(job);
    }
    return jobs;
  }

  /** Waits for all executors and lets them load what every job needs, outside of the times. */
  private void warmUp(SparkSession spark) throws TimeoutException {
    spark.range(0, 10_000, 1, 4).repartition(4).groupBy("id").count().count();
    ShuffleBytes bytes = takeBytes(spark);
    if (TransferCounters.bytes() != null) {
      TransferCounters.awaitSince(new TransferBytes(0, 0), bytes.remote());
    }
    say("executors are up");
  }

  private JobReport run(SparkSession spark, Job job) throws IOException, TimeoutException {
    say("%s started", job.name());
    TransferBytes before = TransferCounters.bytes();
    ClusterCpu cpuBefore = ClusterCpu.of(spark);
    takeBytes(spark); // of the tasks that told of CPU time
    long start = System.nanoTime();
    JobResult result = job.run(spark);
    double seconds = (System.nanoTime() - start) / 1e9;
    ShuffleBytes bytes = takeBytes(spark);
    ClusterCpu cpu = ClusterCpu.of(spark).since(cpuBefore);
    TransferBytes transfer =
        before == null ? null : TransferCounters.awaitSince(before, bytes.remote());
    say(
        "%s done in %.1f s: %,d rows, %.1f MB shuffled",
        job.name(), seconds, result.rows().size(), bytes.written() / 1e6);
    return new JobReport(job.name(), seconds, cpu, bytes, transfer, result);
  }

  private ShuffleBytes takeBytes(SparkSession spark) throws TimeoutException {
    spark.sparkContext().listenerBus().waitUntilEmpty(LISTENER_PATIENCE.toMillis());
    return listener.take();
  }

  private void say(String format, Object... values) {
    System.out.println("  [" + request.label() + "] " + format.formatted(values));
  }
}
