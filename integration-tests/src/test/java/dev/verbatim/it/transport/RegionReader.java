package dev.verbatim.it.transport;

import dev.verbatim.transport.PeerConnection;
import dev.verbatim.transport.RdmaTransport;
import dev.verbatim.transport.ReadBatch;
import dev.verbatim.transport.ReadBuffer;

/** A process of its own that READs a region again and again until it is killed. */
public final class RegionReader {
  static final String READING = "READING";

  private RegionReader() {}

  /**
   * @param args the line of {@link RegionServer.Served}, one word each
   */
  public static void main(String[] args) throws Exception {
    RegionServer.Served served = RegionServer.Served.parse(String.join(" ", args));
    try (RdmaTransport transport = Transports.open(Transports.config("reader"))) {
      PeerConnection connection = Transports.connect(transport, served.peer());
      ReadBuffer buffer = transport.tryAcquire(served.length()).orElseThrow();
      for (long i = 0; true; i++) {
        Outcome outcome = new Outcome();
        connection.read(
            new ReadBatch(outcome).add(served.iova(), served.rkey(), buffer, 0, served.length()));
        outcome.assertSucceeded();
        if (i == 0) {
          System.out.println(READING);
        }
      }
    }
  }
}
