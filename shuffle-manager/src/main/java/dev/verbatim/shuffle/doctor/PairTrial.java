package dev.verbatim.shuffle.doctor;

import dev.verbatim.transport.MemoryRegion;
import dev.verbatim.transport.OpenResult;
import dev.verbatim.transport.PeerAddress;
import dev.verbatim.transport.RdmaTransport;
import dev.verbatim.transport.RegistrationException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * One executor's part in READs between all pairs of several, in rounds: in each, everybody reads
 * from one other and is read by one.
 */
final class PairTrial {
  static final String CHECK = "pair";
  private static final String RDMA = "RDMA on in both";
  private static final int REACH_MILLIS = 3000;

  private final int self;
  private final Function<String, List<String>> exchange;

  /**
   * @param self this executor's place among all, from 0
   * @param exchange tells the others a text, and answers those of all in order once all have told
   */
  PairTrial(int self, Function<String, List<String>> exchange) {
    this.self = self;
    this.exchange = exchange;
  }

  /** The findings of the pairs in which this executor reads. */
  List<Finding> run(Settings settings, byte[] token, String executor, String host) {
    switch (RdmaTransport.open(settings.transport(executor, token))) {
      case OpenResult.Unavailable none -> {
        return without(executor, host, none.reason() + ": " + none.seen());
      }
      case OpenResult.Opened opened -> {
        try (RdmaTransport transport = opened.transport()) {
          return serve(transport, executor, host);
        }
      }
    }
  }

  private List<Finding> serve(RdmaTransport transport, String executor, String host) {
    try (MemoryRegion region = transport.allocate(ReadTrial.BYTES)) {
      ReadTrial.fill(region.segment());
      PeerAddress address = transport.self();
      return rounds(
          transport,
          new Peer(
              executor,
              host,
              "",
              transport.info().linkLayer(),
              address.address().getAddress().getHostAddress(),
              address.address().getPort(),
              address.challenge(),
              region.iova(),
              region.rkey()));
    } catch (RegistrationException e) {
      return without(executor, host, e.getMessage());
    }
  }

  /** Takes part without reading, so that the others do not wait. */
  private List<Finding> without(String executor, String host, String why) {
    Peer own = new Peer(executor, host, why, "", "", 0, 0, 0, 0);
    rounds(null, own);
    Findings findings = new Findings(CHECK);
    findings.warning(own.name(), "it has no RDMA: " + why, RDMA, "see its own findings");
    return findings.all();
  }

  /**
   * @param reader null where this executor cannot read
   */
  private List<Finding> rounds(RdmaTransport reader, Peer own) {
    List<Peer> peers =
        exchange.apply(Json.write(own)).stream().map(text -> Json.read(text, Peer.class)).toList();
    List<Finding> findings = new ArrayList<>();
    for (int round = 1; round < peers.size(); round++) {
      if (reader != null) {
        findings.add(read(reader, own, peers.get((self + round) % peers.size())));
      }
      exchange.apply(""); // nobody is read by two at a time, and nobody goes before all have read
    }
    return findings;
  }

  private static Finding read(RdmaTransport reader, Peer own, Peer peer) {
    Findings finding = new Findings(CHECK);
    String pair = own.name() + " reads from " + peer.name();
    if (!peer.absent().isEmpty()) {
      finding.warning(
          pair, "the other has no RDMA: " + peer.absent(), RDMA, "see its own findings");
    } else {
      try {
        PeerAddress address =
            new PeerAddress(
                peer.executor(),
                new InetSocketAddress(InetAddress.getByName(peer.address()), peer.port()),
                peer.challenge());
        ReadTrial.Figures figures = new ReadTrial(reader).run(address, peer.iova(), peer.rkey());
        finding.ok(pair, figures + (isRoce(peer) ? "; UDP port 4791 passes" : ""));
      } catch (ReadTrial.FailedException | IOException e) {
        failed(pair, own, peer, e.getMessage(), finding);
      }
    }
    return finding.all().getFirst();
  }

  private static boolean isRoce(Peer peer) {
    return peer.linkLayer().equals("RoCE v2");
  }

  private static void failed(String pair, Peer own, Peer peer, String why, Findings finding) {
    String needed = "READs between the two";
    if (!own.linkLayer().equals(peer.linkLayer())) {
      finding.problem(
          pair,
          why + "; the one has " + own.linkLayer() + ", the other " + peer.linkLayer(),
          "ports of one kind, on one fabric",
          "spark.shuffle.rdma.device, per host rdma.device in rdma-site.xml");
    } else if (Stream.of("REJECTED", "1 MiB", "other bytes").anyMatch(why::contains)) {
      finding.problem(
          pair,
          why,
          needed,
          "packets pass: see the log of the other side; ping -M do -s 8972 " + peer.address());
    } else if (answersByIp(peer.address())) {
      finding.problem(
          pair,
          why
              + "; "
              + peer.address()
              + " answers by IP"
              + (isRoce(peer) ? ", so UDP port 4791 is blocked, or its port is not active" : ""),
          needed,
          isRoce(peer)
              ? "allow UDP port 4791 both ways: security groups, access lists of switches; for"
                  + " Soft-RoCE the hosts' own nft list ruleset"
              : "check the fabric: ibping, rping; with iWARP allow the TCP port of"
                  + " spark.shuffle.rdma.listenPort");
    } else {
      finding.problem(
          pair,
          why + "; " + peer.address() + " does not answer by IP either",
          "a route between the RDMA networks of both hosts",
          "ip route get " + peer.address() + "; spark.shuffle.rdma.address, per host rdma.address");
    }
  }

  private static boolean answersByIp(String address) {
    try {
      return InetAddress.getByName(address).isReachable(REACH_MILLIS);
    } catch (IOException e) {
      return false;
    }
  }
}
