package dev.verbatim.shuffle.doctor;

import dev.verbatim.transport.OpenResult;
import dev.verbatim.transport.TransportConfig;
import java.util.List;
import java.util.Optional;

/** A host that answers as it, or another one, once did. */
final class RecordedHost implements Host {
  private final Recording recording;

  RecordedHost(Recording recording) {
    this.recording = recording;
  }

  @Override
  public String name() {
    return recording.get(Recording.HOST).orElse("a recording");
  }

  @Override
  public Runtime.Version jdk() {
    return Runtime.Version.parse(
        recording
            .get(Recording.JDK)
            .orElseThrow(() -> new IllegalArgumentException("this is no recording of a host")));
  }

  @Override
  public Optional<String> javaHome() {
    return recording.get(Recording.JAVA_HOME);
  }

  @Override
  public Optional<String> read(String file) {
    return recording.get(Recording.FILE + file);
  }

  @Override
  public List<String> list(String folder) {
    String prefix = Recording.FILE + folder + "/";
    return recording.under(prefix).keySet().stream()
        .map(name -> name.substring(prefix.length()).replaceAll("/.*", ""))
        .distinct()
        .sorted()
        .toList();
  }

  @Override
  public Optional<Access> access(String file) {
    return recording.get(Recording.ACCESS + file).flatMap(Access::parse);
  }

  @Override
  public ToolOutput run(String... command) {
    String words = String.join(" ", command);
    return recording
        .get(Recording.TOOL + words)
        .map(text -> new ToolOutput(0, text))
        .or(() -> recording.get(Recording.TOOL_FAILED + words).map(t -> new ToolOutput(1, t)))
        .orElse(new ToolOutput(ToolOutput.ABSENT, ""));
  }

  @Override
  public VerbsView verbs() {
    return recording
        .get(Recording.VERBS)
        .map(text -> Json.read(text, VerbsView.class))
        .orElse(new VerbsView("", "", List.of(), List.of()));
  }

  @Override
  public Optional<OpenResult> open(TransportConfig config) {
    return Optional.empty();
  }
}
