package dev.verbatim.examples.profile;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Notes when each job of an application runs and what CPU time its driver and executors use
 * meanwhile. What they use it for is in the recordings that {@link #flags} ask of each JVM.
 */
public final class JobProfiler {
  /** In the folder of an application, beside the recordings. */
  static final String JOBS = "jobs.json";

  private static final ObjectMapper JSON = new ObjectMapper();

  private final Path folder;
  private final List<ProfiledJob> jobs = new ArrayList<>();
  private Map<Long, ProcessCpu> before;
  private long fromMillis;

  /**
   * @param folder exists
   */
  public JobProfiler(Path folder) {
    this.folder = folder;
  }

  /**
   * JVM flags by which a process leaves a recording in the folder when it ends: a sample, native
   * code included, for each 5 ms of a Java thread's CPU time.
   *
   * @throws IllegalArgumentException when the JVM would take a part of the path for something else
   */
  public static List<String> flags(Path folder) {
    String path = folder.toAbsolutePath().toString();
    if (!path.matches("[^\\s,%'\"\\\\]+")) {
      throw new IllegalArgumentException(
          "Recordings need a path without blanks and commas: " + path);
    }
    return List.of(
        "-XX:FlightRecorderOptions:stackdepth=256",
        "-XX:StartFlightRecording:settings=none,dumponexit=true,filename="
            + path
            + "/%p.jfr,+jdk.CPUTimeSample#enabled=true,+jdk.CPUTimeSample#throttle=5ms"
            + ",+jdk.CPUTimeSamplesLost#enabled=true"
            + ",+jdk.JVMInformation#enabled=true,+jdk.JVMInformation#period=endChunk");
  }

  /** A job is about to start. */
  public void start() throws IOException {
    before = processes();
    fromMillis = System.currentTimeMillis();
  }

  /** The job has ended; what was noted of it and those before is left beside the recordings. */
  public void end(String job) throws IOException {
    long toMillis = System.currentTimeMillis();
    List<ProcessCpu> used = new ArrayList<>();
    for (ProcessCpu process : processes().values()) {
      ProcessCpu earlier = before.get(process.pid());
      used.add(earlier == null ? process : process.since(earlier));
    }
    jobs.add(new ProfiledJob(job, fromMillis, toMillis, used));
    JSON.writeValue(folder.resolve(JOBS).toFile(), jobs);
  }

  /** What {@link #end} left. */
  static List<ProfiledJob> read(Path folder) throws IOException {
    return List.of(JSON.readValue(folder.resolve(JOBS).toFile(), ProfiledJob[].class));
  }

  /** This process and all that it has started. */
  private static Map<Long, ProcessCpu> processes() throws IOException {
    ProcessHandle self = ProcessHandle.current();
    Map<Long, ProcessCpu> processes = new HashMap<>();
    for (ProcessHandle process : Stream.concat(Stream.of(self), self.descendants()).toList()) {
      processes.put(process.pid(), ProcessCpu.of(process.pid()));
    }
    return processes;
  }
}
