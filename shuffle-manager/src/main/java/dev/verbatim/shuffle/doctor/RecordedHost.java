package dev.verbatim.shuffle.doctor;

import dev.verbatim.transport.OpenResult;
import dev.verbatim.transport.TransportConfig;
import java.net.InetAddress;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** A host that answers as it, or another one, once did. */
final class RecordedHost implements Host {
  private final Recording recording;

  /** Before the names of answers: empty, or {@link Recording#LATER}. */
  private final String look;

  RecordedHost(Recording recording) {
    this(recording, "");
  }

  private RecordedHost(Recording recording, String look) {
    this.recording = recording;
    this.look = look;
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
    return answer(Recording.FILE + file);
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
    return answer(Recording.ACCESS + file).flatMap(Access::parse);
  }

  @Override
  public ToolOutput run(String... command) {
    String words = String.join(" ", command);
    return answer(Recording.TOOL + words)
        .map(text -> new ToolOutput(0, text))
        .or(() -> answer(Recording.TOOL_FAILED + words).map(t -> new ToolOutput(1, t)))
        .orElse(new ToolOutput(ToolOutput.ABSENT, ""));
  }

  @Override
  public long memory() {
    return answer(Recording.MEMORY).map(Long::parseLong).orElse(Long.MAX_VALUE);
  }

  @Override
  public Optional<List<InetAddress>> addresses(String netdev) {
    return answer(Recording.ADDRESSES + netdev)
        .map(text -> text.lines().map(InetAddress::ofLiteral).toList());
  }

  @Override
  public Optional<Host> later(Duration pause) {
    return recording.under(Recording.LATER).isEmpty()
        ? Optional.empty()
        : Optional.of(new RecordedHost(recording, Recording.LATER));
  }

  @Override
  public VerbsView verbs() {
    return answer(Recording.VERBS)
        .map(text -> Json.read(text, VerbsView.class))
        .orElse(new VerbsView("", "", List.of(), List.of()));
  }

  @Override
  public Optional<OpenResult> open(TransportConfig config) {
    return Optional.empty();
  }

  /** What a later look did not see is as it was. */
  private Optional<String> answer(String name) {
    return recording.get(look + name).or(() -> recording.get(name));
  }
}
