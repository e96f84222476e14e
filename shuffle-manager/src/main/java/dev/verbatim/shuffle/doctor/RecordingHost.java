package dev.verbatim.shuffle.doctor;

import dev.verbatim.transport.OpenResult;
import dev.verbatim.transport.TransportConfig;
import java.net.InetAddress;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** Keeps what a host answers. */
final class RecordingHost implements Host {
  private final Host host;
  private final Recording recording;

  /** Before the names of answers: empty, or {@link Recording#LATER}. */
  private final String look;

  RecordingHost(Host host) {
    this(host, new Recording(), "");
    recording.put(Recording.HOST, host.name());
    recording.put(Recording.JDK, host.jdk().toString());
  }

  private RecordingHost(Host host, Recording recording, String look) {
    this.host = host;
    this.recording = recording;
    this.look = look;
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
    text.ifPresent(answer -> keep(Recording.FILE + file, answer));
    return text;
  }

  @Override
  public List<String> list(String folder) {
    List<String> names = host.list(folder);
    names.forEach(name -> recording.putName(look + Recording.FILE + folder + "/" + name));
    return names;
  }

  @Override
  public Optional<Access> access(String file) {
    Optional<Access> access = host.access(file);
    access.ifPresent(answer -> keep(Recording.ACCESS + file, answer.toString()));
    return access;
  }

  @Override
  public ToolOutput run(String... command) {
    ToolOutput output = host.run(command);
    if (output.exit() != ToolOutput.ABSENT) {
      keep(
          (output.succeeded() ? Recording.TOOL : Recording.TOOL_FAILED) + String.join(" ", command),
          output.text());
    }
    return output;
  }

  @Override
  public long memory() {
    long bytes = host.memory();
    keep(Recording.MEMORY, Long.toString(bytes));
    return bytes;
  }

  /** Without the scope of an address, an interface that who replays it does not have. */
  @Override
  public Optional<List<InetAddress>> addresses(String netdev) {
    Optional<List<InetAddress>> addresses = host.addresses(netdev);
    addresses.ifPresent(
        all ->
            keep(
                Recording.ADDRESSES + netdev,
                all.stream()
                    .map(address -> address.getHostAddress().replaceFirst("%.*", ""))
                    .collect(Collectors.joining("\n"))));
    return addresses;
  }

  @Override
  public Optional<Host> later(Duration pause) {
    return host.later(pause).map(then -> new RecordingHost(then, recording, Recording.LATER));
  }

  @Override
  public VerbsView verbs() {
    VerbsView view = host.verbs();
    keep(Recording.VERBS, Json.write(view));
    return view;
  }

  @Override
  public Optional<OpenResult> open(TransportConfig config) {
    return host.open(config);
  }

  private void keep(String name, String answer) {
    recording.put(look + name, answer);
  }
}
