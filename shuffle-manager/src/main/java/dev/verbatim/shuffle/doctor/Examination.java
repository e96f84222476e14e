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

  @Override
  public void close() {
    if (opened != null) {
      transport().ifPresent(RdmaTransport::close);
    }
  }
}
