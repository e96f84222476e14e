package dev.verbatim.examples;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.verbatim.examples.profile.JobProfiler;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Runs what a comparison is to run and has not yet run, one Spark application for each shuffle
 * manager and round, and writes what there is after each job. When an application ends early, the
 * job that it was at has failed, and another application goes on with the next one.
 */
final class ComparisonRun {
  /**
   * What does not change what is measured.
   *
   * @param tpcdsJar null without queries
   * @param logs folder
   * @param results folder for {@link FirstResults}
   * @param profiles folder for what says where CPU time goes; null for none
   * @param silence longest time that an application may tell nothing
   */
  record Places(Path tpcdsJar, Path logs, Path results, Path profiles, Duration silence) {}

  private final ObjectMapper json = new ObjectMapper();
  private final Places places;
  private final RunFiles files;
  private final Progress progress;
  private final RunSettings settings;
  private volatile RunReport report; // read by the notice too

  /**
   * @param begun what was measured before
   */
  ComparisonRun(RunReport begun, Places places, RunFiles files, Progress progress) {
    this.report = begun;
    this.settings = begun.settings();
    this.places = places;
    this.files = files;
    this.progress = progress;
  }

  /**
   * Runs it all.
   *
   * @throws IOException if an application ends before its first job, or files cannot be written
   */
  RunReport run() throws IOException, InterruptedException {
    Thread notice =
        new Thread(
            () ->
                progress.say(
                    "ended after %d of %d; what there is has been written, and --resume goes on"
                        .formatted(report.done(), report.planned())));
    Runtime.getRuntime().addShutdownHook(notice);
    for (int round = 1; round <= settings.rounds(); round++) {
      for (ShuffleChoice manager : settings.order(round)) {
        while (!report.open(manager.label(), round).isEmpty()) {
          new Application(manager, round).run();
        }
      }
    }
    Runtime.getRuntime().removeShutdownHook(notice);
    files.write(report);
    return report;
  }

  /** One Spark application, and what it tells. */
  private final class Application implements SparkJvm.Output {
    private final ShuffleChoice manager;
    private final int round;
    private final String name;
    private boolean up;
    private String running;
    private long since;

    Application(ShuffleChoice manager, int round) {
      this.manager = manager;
      this.round = round;
      this.name = manager.label() + "-" + round;
    }

    void run() throws IOException, InterruptedException {
      int before = report.done();
      Path request = Files.createTempFile("request", ".json");
      Path log = places.logs().resolve(name + ".log");
      progress.applicationStarts(manager.label(), round, log.toString());
      try {
        List<String> flags = new ArrayList<>(settings.jvmFlags());
        json.writeValue(request.toFile(), request(flags));
        new SparkJvm(settings.driverMemory(), flags, places.silence())
            .run(JobApplication.class.getName(), List.of(request.toString()), log, this);
      } catch (SparkJvm.FailedException e) {
        if (running != null) {
          ended(JobReport.failed(running, seconds(), e.reason()));
        } else if (report.done() == before) {
          throw e;
        }
        progress.say(e.getMessage());
      } finally {
        Files.delete(request);
      }
    }

    private ApplicationRequest request(List<String> flags) throws IOException {
      Path profile = null;
      Map<String, String> configuration = new LinkedHashMap<>(settings.configuration());
      if (places.profiles() != null) {
        profile = places.profiles().resolve(name).toAbsolutePath();
        Files.createDirectories(profile);
        flags.addAll(JobProfiler.flags(profile));
        configuration.merge(
            "spark.executor.extraJavaOptions",
            String.join(" ", JobProfiler.flags(profile)),
            (set, more) -> set + " " + more);
      }
      configuration.put("spark.shuffle.manager", manager.className());
      return new ApplicationRequest(
          manager.label(),
          settings.master(),
          configuration,
          places.tpcdsJar(),
          settings.data() == null ? null : Path.of(settings.data()),
          report.open(manager.label(), round),
          settings.keepLimit(),
          places.results(),
          profile);
    }

    @Override
    public void line(String text) throws IOException {
      if (!text.startsWith("{")) { // a warning of the JVM
        progress.say(text);
        return;
      }
      ApplicationEvent event = json.readValue(text, ApplicationEvent.class);
      if (event.facts() != null) {
        facts(event.facts());
      } else if (event.started() != null) {
        running = event.started();
        since = System.nanoTime();
        progress.jobStarts(running);
      } else {
        ended(event.ended());
      }
    }

    private void facts(SparkFacts facts) throws IOException {
      if (!facts.shuffleManager().equals(manager.className())) {
        throw new IOException(
            "Spark ran " + facts.shuffleManager() + " where " + manager.className() + " was set");
      }
      if (!up) {
        up = true;
        progress.applicationIsUp();
      }
      report = report.with(current().with(facts));
      files.write(report);
    }

    private ApplicationReport current() {
      return report
          .find(manager.label(), round)
          .orElseGet(() -> new ApplicationReport(manager.label(), round, null, List.of()));
    }

    private void ended(JobReport job) throws IOException {
      running = null;
      report = report.with(current().with(job));
      progress.jobEnded(job, report);
      files.write(report);
    }

    @Override
    public void second() {
      progress.second();
    }

    private double seconds() {
      return (System.nanoTime() - since) / 1e9;
    }
  }
}
