package dev.verbatim.examples.rdma;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.verbatim.transport.TransportInfo;
import dev.verbatim.transport.measure.Measurement;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.List;

/** What was measured, as JSON for other programs; a class by itself, since it needs Jackson. */
final class MeasurementFile {
  private MeasurementFile() {}

  static void write(
      Path file, TransportInfo info, InetSocketAddress server, List<Measurement> results)
      throws IOException {
    ObjectMapper mapper = new ObjectMapper();
    ObjectNode root = mapper.createObjectNode();
    root.put("device", info.device());
    root.put("port", info.port());
    root.put("link", info.linkLayer());
    root.put("mtu", info.pathMtu());
    root.put("numaNode", info.numaNode());
    root.put("address", info.address().getAddress().getHostAddress());
    root.put("server", server.getAddress().getHostAddress());
    ArrayNode array = root.putArray("results");
    for (Measurement result : results) {
      array
          .addObject()
          .put("operation", result.operation().name())
          .put("bytes", result.bytes())
          .put("depth", result.depth())
          .put("queuePairs", result.queuePairs())
          .put("messages", result.messages())
          .put("nanos", result.nanos())
          .put("minNanos", result.minNanos())
          .put("medianNanos", result.medianNanos())
          .put("p99Nanos", result.p99Nanos())
          .put("maxNanos", result.maxNanos())
          .put("averageNanos", result.averageNanos())
          .put("megabytesPerSecond", result.megabytesPerSecond())
          .put("messagesPerSecond", result.messagesPerSecond());
    }
    mapper.writerWithDefaultPrettyPrinter().writeValue(file.toFile(), root);
  }
}
