package dev.verbatim.shuffle.doctor;

import dev.verbatim.transport.OpenResult;
import dev.verbatim.transport.RdmaTransport;
import java.security.SecureRandom;
import java.util.List;
import java.util.Optional;

/** One examination of one host: what its checks look at together. Not thread-safe. */
final class Examination implements AutoCloseable {
  private final Host host;
  private final Settings settings;
  private final byte[] token = new byte[16];
  private VerbsView verbs;
  private List<RdmaPort> ports;
  private Optional<OpenResult> opened;
  private List<Finding> readLoop;

  Examination(Host host, Settings settings) {
    this.host = host;
    this.settings = settings;
    new SecureRandom().nextBytes(token);
  }

  Host host() {
    return host;
  }

  Settings settings() {
    return settings;
  }

  /** Secret of the transports that are opened here. */
  byte[] token() {
    return token.clone();
  }

  VerbsView verbs() {
    if (verbs == null) {
      verbs = host.verbs();
    }
    return verbs;
  }

  /** Ports that the settings allow. */
  List<RdmaPort> ports() {
    if (ports == null) {
      ports = RdmaPort.all(host, settings.rdma());
    }
    return ports;
  }

  /** What opening a transport as an executor does has come to; empty for a recording. */
  Optional<OpenResult> opened() {
    if (opened == null) {
      opened = host.open(settings.transport("doctor", token));
    }
    return opened;
  }

  /** Empty where none could be opened. */
  Optional<RdmaTransport> transport() {
    return opened()
        .filter(OpenResult.Opened.class::isInstance)
        .map(result -> ((OpenResult.Opened) result).transport());
  }

  /**
   * What READs from a port to itself have come to; none where no transport opens. Made once, by the
   * check that asks first: that of counters looks before and after.
   */
  List<Finding> readLoop() {
    if (readLoop == null) {
      readLoop = transport().map(server -> ReadLoopCheck.run(server, this)).orElse(List.of());
    }
    return readLoop;
  }

  @Override
  public void close() {
    if (opened != null) {
      transport().ifPresent(RdmaTransport::close);
    }
  }
}
