package dev.verbatim.shuffle.doctor;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.verbatim.shuffle.RdmaShuffleManager;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.apache.spark.SparkConf;

/** A host of the tests' resources, in which a test changes what it is about. */
final class Patient {
  private final Recording recording;
  private final SparkConf spark = new SparkConf(false).set("spark.master", "yarn");
  private String manager = RdmaShuffleManager.class.getName();
  private List<Path> localDirs = List.of(Path.of("/tmp"));

  private Patient(Recording recording) {
    this.recording = recording;
  }

  /** A healthy RoCE host, with everything that a check looks at. */
  static Patient roce() {
    return of("roce.txt");
  }

  static Patient of(String resource) {
    try (InputStream in = Patient.class.getResourceAsStream("/doctor/" + resource)) {
      return new Patient(Recording.parse(new String(in.readAllBytes(), StandardCharsets.UTF_8)));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  Patient file(String file, String text) {
    recording.put(Recording.FILE + file, text);
    return this;
  }

  Patient without(String answer) {
    recording.remove(answer);
    return this;
  }

  /** As if nothing under the folder could be read. */
  Patient withoutFolder(String folder) {
    List.copyOf(recording.under(Recording.FILE + folder + "/").keySet()).forEach(recording::remove);
    return this;
  }

  Patient answer(String name, String text) {
    recording.put(name, text);
    return this;
  }

  /** Replaces a part of an answer, which must be there. */
  Patient change(String name, String from, String to) {
    String before = recording.get(name).orElseThrow();
    assertEquals(true, before.contains(from), before);
    recording.put(name, before.replace(from, to));
    return this;
  }

  Patient set(String key, String value) {
    spark.set(key, value);
    return this;
  }

  Patient manager(String name) {
    manager = name;
    return this;
  }

  Host host() {
    return new RecordedHost(recording);
  }

  Settings settings() {
    return Settings.of(spark, manager, localDirs);
  }

  Report examine(String... only) {
    return Doctor.examine(host(), settings(), Set.of(only));
  }

  /** What the one check finds at the one thing that it looks at. */
  Finding finding(String check) {
    List<Finding> findings = examine(check).findings();
    assertEquals(1, findings.size(), findings.toString());
    return findings.getFirst();
  }
}
