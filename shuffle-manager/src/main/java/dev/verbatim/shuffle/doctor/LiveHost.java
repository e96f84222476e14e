package dev.verbatim.shuffle.doctor;

import dev.verbatim.shuffle.writer.ContainerMemory;
import dev.verbatim.transport.OpenResult;
import dev.verbatim.transport.RdmaTransport;
import dev.verbatim.transport.TransportConfig;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** The host that this process runs on, as this process sees it. */
final class LiveHost implements Host {
  /** Set by {@code scripts/doctor}, which finds a JDK that fits by itself. */
  private static final String JAVA_HOME = "verbatim.doctor.javaHome";

  private static final int MOST_BYTES = 4 << 20;
  private static final long TOOL_SECONDS = 10;

  /** Where tools of the administrator are, which the path of a service often lacks. */
  private static final List<String> TOOL_FOLDERS =
      List.of("/usr/sbin", "/usr/bin", "/sbin", "/bin", "/usr/local/sbin", "/usr/local/bin");

  @Override
  public String name() {
    try {
      return InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException e) {
      return read("/proc/sys/kernel/hostname").orElse("this host");
    }
  }

  @Override
  public Runtime.Version jdk() {
    return Runtime.version();
  }

  @Override
  public Optional<String> javaHome() {
    return Optional.ofNullable(System.getProperty(JAVA_HOME)).filter(home -> !home.isEmpty());
  }

  /** By large reads: of a sysctl the kernel answers the first only. */
  @Override
  public Optional<String> read(String file) {
    try (InputStream in = Files.newInputStream(Path.of(file))) {
      byte[] bytes = new byte[8192];
      StringBuilder text = new StringBuilder();
      for (int n = in.read(bytes); n > 0 && text.length() < MOST_BYTES; n = in.read(bytes)) {
        text.append(new String(bytes, 0, n, StandardCharsets.ISO_8859_1));
      }
      return Optional.of(text.toString().strip());
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  @Override
  public List<String> list(String folder) {
    try (Stream<Path> files = Files.list(Path.of(folder))) {
      return files.map(file -> file.getFileName().toString()).sorted().toList();
    } catch (IOException e) {
      return List.of();
    }
  }

  @Override
  public Optional<Access> access(String file) {
    Path path = Path.of(file);
    try {
      PosixFileAttributes attributes = Files.readAttributes(path, PosixFileAttributes.class);
      return Optional.of(
          new Access(
              PosixFilePermissions.toString(attributes.permissions()),
              attributes.owner().getName(),
              attributes.group().getName(),
              Files.isReadable(path) && Files.isWritable(path)));
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  @Override
  public ToolOutput run(String... command) {
    Optional<String> tool =
        TOOL_FOLDERS.stream()
            .map(folder -> folder + "/" + command[0])
            .filter(file -> Files.isExecutable(Path.of(file)))
            .findFirst();
    if (tool.isEmpty()) {
      return new ToolOutput(ToolOutput.ABSENT, "");
    }
    String[] words = command.clone();
    words[0] = tool.get();
    try {
      return run(new ProcessBuilder(words));
    } catch (IOException e) {
      return new ToolOutput(ToolOutput.ABSENT, e.toString());
    }
  }

  /** Into a file: a tool that hangs would hang who reads its output. */
  private static ToolOutput run(ProcessBuilder builder) throws IOException {
    Path output = Files.createTempFile("verbatim-doctor", ".txt");
    try {
      Process process = builder.redirectErrorStream(true).redirectOutput(output.toFile()).start();
      process.getOutputStream().close();
      if (!process.waitFor(TOOL_SECONDS, TimeUnit.SECONDS)) {
        process.destroyForcibly();
        return new ToolOutput(ToolOutput.LATE, "");
      }
      String text = new String(Files.readAllBytes(output), StandardCharsets.UTF_8);
      return new ToolOutput(process.exitValue(), text.strip());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return new ToolOutput(ToolOutput.LATE, "");
    } finally {
      Files.deleteIfExists(output);
    }
  }

  @Override
  public long memory() {
    return ContainerMemory.totalBytes();
  }

  @Override
  public Optional<List<InetAddress>> addresses(String netdev) {
    try {
      return Optional.ofNullable(NetworkInterface.getByName(netdev)).map(LiveHost::addresses);
    } catch (SocketException e) {
      return Optional.empty();
    }
  }

  /** Those with a label of their own, as eth0:1, too. */
  private static List<InetAddress> addresses(NetworkInterface netdev) {
    return Stream.concat(Stream.of(netdev), netdev.subInterfaces())
        .flatMap(NetworkInterface::inetAddresses)
        .toList();
  }

  @Override
  public Optional<Host> later(Duration pause) {
    try {
      Thread.sleep(pause);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return Optional.of(this);
  }

  @Override
  public VerbsView verbs() {
    return VerbsView.live();
  }

  @Override
  public Optional<OpenResult> open(TransportConfig config) {
    return Optional.of(RdmaTransport.open(config));
  }
}
