package dev.verbatim.examples;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Optional;

/**
 * The first result of each job in a run, in a folder: all that come later, under whichever shuffle
 * manager, are compared with it. On disk, since a run may have many and be taken up again.
 */
final class FirstResults {
  private static final String SUFFIX = ".json";

  private final ObjectMapper json = new ObjectMapper();
  private final Path folder;

  FirstResults(Path folder) {
    this.folder = folder;
  }

  /** Forgets what an earlier run has left. */
  void clear() throws IOException {
    Files.createDirectories(folder);
    try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, "*" + SUFFIX)) {
      for (Path file : files) {
        Files.delete(file);
      }
    }
  }

  /**
   * Whether what is to come can be compared with what was measured before.
   *
   * @throws IllegalArgumentException naming the first job whose result is missing
   */
  void checkHas(RunReport begun) {
    for (ApplicationReport application : begun.applications()) {
      for (JobReport job : application.jobs()) {
        if (!Files.isRegularFile(file(job.job()))) {
          throw new IllegalArgumentException(
              "--resume needs the first result of "
                  + job.job()
                  + ", and it is not in "
                  + folder
                  + ": use the same --logs, or run without --resume");
        }
      }
    }
  }

  Path folder() {
    return folder;
  }

  /** Keeps the result if it is the first one of its job; else tells what differs from that one. */
  Optional<String> keepOrCompare(String job, JobResult result) throws IOException {
    Path file = file(job);
    if (Files.exists(file)) {
      return ResultComparison.difference(json.readValue(file.toFile(), JobResult.class), result);
    }
    // Whoever is ended meanwhile leaves no half of it.
    Path part = Files.createTempFile(folder, "part", ".tmp");
    json.writeValue(part.toFile(), result);
    Files.move(part, file, StandardCopyOption.ATOMIC_MOVE);
    return Optional.empty();
  }

  private Path file(String job) {
    return folder.resolve(job.replace(':', '-') + SUFFIX);
  }
}
