package dev.verbatim.examples;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.verbatim.examples.profile.JobProfiler;
import java.io.IOException;
import java.io.PrintStream;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeoutException;
import org.apache.spark.SparkEnv;
import org.apache.spark.sql.SparkSession;

/**
 * The Spark application that {@link ComparisonRun} starts for each shuffle manager and round, in a
 * JVM of its own so that none profits from code that another has warmed up. It tells {@link
 * ApplicationEvent}s on its standard output.
 */
final class JobApplication {
  private static final Duration LISTENER_PATIENCE = Duration.ofMinutes(1);
  private static final int ERROR_LENGTH = 2000;

  private final ObjectMapper json = new ObjectMapper();
  private final ShuffleBytesListener listener = new ShuffleBytesListener();
  private final ApplicationRequest request;
  private final FirstResults firstResults;
  private final PrintStream events;

  private JobApplication(ApplicationRequest request, PrintStream events) {
    this.request = request;
    this.firstResults = new FirstResults(request.results());
    this.events = events;
  }

  /** Reads the request from the file. */
  public static void main(String[] files) throws Exception {
    PrintStream events = System.out;
    System.setOut(System.err); // whatever else is printed
    ApplicationRequest request =
        new ObjectMapper().readValue(Path.of(files[0]).toFile(), ApplicationRequest.class);
    new JobApplication(request, events).run();
  }

  /** The jar, or folder, with the classes of the jobs. */
  static Path jar() {
    return Path.of(
        URI.create(
            JobApplication.class.getProtectionDomain().getCodeSource().getLocation().toString()));
  }

  private void run() throws IOException, TimeoutException {
    SparkSession.Builder builder =
        SparkSession.builder().appName("Shuffle by " + request.label()).master(request.master());
    request.configuration().forEach(builder::config);
    try (SparkSession spark = builder.getOrCreate()) {
      spark.sparkContext().addSparkListener(listener);
      warmUp(spark);
      tell(ApplicationEvent.facts(facts(spark)));
      JobNames names = new JobNames(request.tpcdsJar(), request.data(), request.keepLimit());
      JobProfiler profiler = request.profile() == null ? null : new JobProfiler(request.profile());
      for (String name : request.jobs()) {
        Job job = names.parse(name);
        if (profiler != null) {
          profiler.start();
        }
        tell(ApplicationEvent.started(name));
        tell(ApplicationEvent.ended(report(spark, job)));
        if (profiler != null) {
          profiler.end(name);
        }
        if (spark.sparkContext().isStopped()) {
          throw new IOException("Spark has stopped after " + name);
        }
      }
      tell(ApplicationEvent.facts(facts(spark)));
    }
  }

  private void tell(ApplicationEvent event) throws IOException {
    events.println(json.writeValueAsString(event));
    if (events.checkError()) {
      throw new IOException("whoever started this has ended");
    }
  }

  private static SparkFacts facts(SparkSession spark) {
    return new SparkFacts(
        spark.version(),
        SparkEnv.get().shuffleManager().getClass().getName(),
        TransferCounters.modes());
  }

  /** Waits for all executors and lets them load what every job needs, outside of the times. */
  private void warmUp(SparkSession spark) throws TimeoutException {
    spark.range(0, 10_000, 1, 4).repartition(4).groupBy("id").count().count();
    ShuffleBytes bytes = takeBytes(spark);
    if (TransferCounters.bytes() != null) {
      TransferCounters.awaitSince(new TransferBytes(0, 0), bytes.remote());
    }
  }

  /** Of a job that succeeds or fails; the next one runs in either case. */
  private JobReport report(SparkSession spark, Job job) {
    long start = System.nanoTime();
    try {
      return run(spark, job);
    } catch (Exception e) {
      e.printStackTrace();
      if (!spark.sparkContext().isStopped()) {
        spark.sparkContext().cancelAllJobs();
      }
      String text = e.toString();
      return JobReport.failed(
          job.name(), seconds(start), text.substring(0, Math.min(ERROR_LENGTH, text.length())));
    }
  }

  private JobReport run(SparkSession spark, Job job) throws IOException, TimeoutException {
    job.prepare(spark);
    TransferBytes before = TransferCounters.bytes();
    Map<String, Long> fallbacksBefore = TransferCounters.fallbacks();
    ClusterCpu cpuBefore = ClusterCpu.of(spark);
    takeBytes(spark); // of the tasks that told of CPU time
    long start = System.nanoTime();
    JobResult result = job.run(spark);
    double seconds = seconds(start);
    ShuffleBytes bytes = takeBytes(spark);
    ClusterCpu cpu = ClusterCpu.of(spark).since(cpuBefore);
    TransferBytes transfer =
        before == null ? null : TransferCounters.awaitSince(before, bytes.remote());
    return new JobReport(
        job.name(),
        seconds,
        cpu,
        bytes,
        transfer,
        TransferCounters.fallbacksSince(fallbacksBefore),
        result.rows().size(),
        firstResults.keepOrCompare(job.name(), result).orElse(null),
        null);
  }

  private static double seconds(long start) {
    return (System.nanoTime() - start) / 1e9;
  }

  private ShuffleBytes takeBytes(SparkSession spark) throws TimeoutException {
    spark.sparkContext().listenerBus().waitUntilEmpty(LISTENER_PATIENCE.toMillis());
    return listener.take();
  }
}
