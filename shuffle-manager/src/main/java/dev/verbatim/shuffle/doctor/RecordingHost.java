package dev.verbatim.shuffle.doctor;

import dev.verbatim.transport.OpenResult;
import dev.verbatim.transport.TransportConfig;
import java.util.List;
import java.util.Optional;

/** Keeps what a host answers. */
final class RecordingHost implements Host {
  private final Host host;
  private final Recording recording = new Recording();

  RecordingHost(Host host) {
    this.host = host;
    recording.put(Recording.HOST, host.name());
    recording.put(Recording.JDK, host.jdk().toString());
  }

  Recording recording() {
    return recording;
  }

  @Override
  public String name() {
    return host.name();
  }

  @Override
  public Runtime.Version jdk() {
    return host.jdk();
  }

  @Override
  public Optional<String> javaHome() {
    Optional<String> home = host.javaHome();
    home.ifPresent(answer -> recording.put(Recording.JAVA_HOME, answer));
    return home;
  }

  @Override
  public Optional<String> read(String file) {
    Optional<String> text = host.read(file);
    text.ifPresent(answer -> recording.put(Recording.FILE + file, answer));
    return text;
  }

  @Override
  public List<String> list(String folder) {
    List<String> names = host.list(folder);
    names.forEach(name -> recording.putName(Recording.FILE + folder + "/" + name));
    return names;
  }

  @Override
  public Optional<Access> access(String file) {
    Optional<Access> access = host.access(file);
    access.ifPresent(answer -> recording.put(Recording.ACCESS + file, answer.toString()));
    return access;
  }

  @Override
  public ToolOutput run(String... command) {
    ToolOutput output = host.run(command);
    if (output.exit() != ToolOutput.ABSENT) {
      recording.put(
          (output.succeeded() ? Recording.TOOL : Recording.TOOL_FAILED) + String.join(" ", command),
          output.text());
    }
    return output;
  }

  @Override
  public VerbsView verbs() {
    VerbsView view = host.verbs();
    recording.put(Recording.VERBS, Json.write(view));
    return view;
  }

  @Override
  public Optional<OpenResult> open(TransportConfig config) {
    return host.open(config);
  }
}
