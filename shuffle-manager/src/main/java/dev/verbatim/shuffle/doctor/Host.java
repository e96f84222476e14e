package dev.verbatim.shuffle.doctor;

import dev.verbatim.transport.OpenResult;
import dev.verbatim.transport.TransportConfig;
import java.net.InetAddress;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** What can be asked of the host that is examined: the live one, or a recording of one. */
interface Host {
  /** As the host calls itself. */
  String name();

  /** The JDK that this process runs on. */
  Runtime.Version jdk();

  /**
   * Home of the Java that the environment names, which Spark's own scripts would take and this
   * process need not run on; empty where that is not known.
   */
  Optional<String> javaHome();

  /** A file's text without white space around it; empty where it cannot be read. */
  Optional<String> read(String file);

  /** The names in a folder, in order; none where it cannot be read. */
  List<String> list(String folder);

  /** Who may use a file; empty where there is none. */
  Optional<Access> access(String file);

  /** Runs a tool of the system. */
  ToolOutput run(String... command);

  /** Bytes of memory that this process's JVM reckons with: the container's where it knows one. */
  long memory();

  /** IP addresses of a network interface; empty where this network namespace has no such one. */
  Optional<List<InetAddress>> addresses(String netdev);

  /**
   * The same host some time later, for what grows.
   *
   * @param pause to wait before; none where it is not positive
   * @return empty for a recording that has one look alone
   */
  Optional<Host> later(Duration pause);

  /** What the native library tells of devices. */
  VerbsView verbs();

  /** Opens a transport, to be closed by the caller; empty where the host is a recording. */
  Optional<OpenResult> open(TransportConfig config);
}
