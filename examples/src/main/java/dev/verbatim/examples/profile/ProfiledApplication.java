package dev.verbatim.examples.profile;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;

/** What the recordings of one application's processes say about each of its jobs. */
final class ProfiledApplication {
  /** One process during one job. */
  private record Cell(String job, String role, CpuShares shares) {}

  private final List<Cell> cells;

  private ProfiledApplication(List<Cell> cells) {
    this.cells = List.copyOf(cells);
  }

  /**
   * Reads all recordings of a folder that a {@link JobProfiler} was given.
   *
   * @param drawing what was seen is added to it
   * @throws IOException also when a process that used CPU has left no recording
   */
  static ProfiledApplication read(Path folder, FlamePage drawing) throws IOException {
    Map<Long, Recording> recordings = new HashMap<>();
    try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, "*.jfr")) {
      for (Path file : files) {
        Recording recording = Recording.read(file);
        recordings.put(recording.pid(), recording);
      }
    }
    List<Cell> cells = new ArrayList<>();
    for (ProfiledJob job : JobProfiler.read(folder)) {
      for (ProcessCpu process : job.processes()) {
        Recording recording = recordings.get(process.pid());
        if (recording == null) {
          throw new IOException(
              "%s: no recording of process %d, which used %.2f s of CPU in %s"
                  .formatted(folder, process.pid(), process.seconds(), job.job()));
        }
        List<Sample> samples = recording.during(job);
        CpuShares shares = new CpuShares();
        shares.add(process, samples, recording.lostDuring(job));
        cells.add(new Cell(job.job(), recording.role(), shares));
        drawing.add(recording.role(), process, samples);
      }
    }
    return new ProfiledApplication(cells);
  }

  /** The jobs, in the order in which they ran. */
  List<String> jobs() {
    return cells.stream().map(Cell::job).distinct().toList();
  }

  /** By process, all of these jobs together. */
  Map<String, CpuShares> byRole(Predicate<String> jobs) {
    Map<String, CpuShares> roles = new TreeMap<>();
    for (Cell cell : cells) {
      if (jobs.test(cell.job())) {
        roles.computeIfAbsent(cell.role(), _ -> new CpuShares()).add(cell.shares());
      }
    }
    return roles;
  }

  /** All processes with such a role in all of these jobs together. */
  CpuShares sum(Predicate<String> jobs, Predicate<String> roles) {
    CpuShares sum = new CpuShares();
    for (Cell cell : cells) {
      if (jobs.test(cell.job()) && roles.test(cell.role())) {
        sum.add(cell.shares());
      }
    }
    return sum;
  }
}
