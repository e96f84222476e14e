package dev.verbatim.shuffle;

import dev.verbatim.shuffle.conf.RdmaConf;
import dev.verbatim.shuffle.fallback.FallbackLog;
import dev.verbatim.shuffle.metrics.ShuffleCounters;
import dev.verbatim.shuffle.reader.FetchContext;
import dev.verbatim.shuffle.reader.IndexCache;
import dev.verbatim.shuffle.reader.RdmaBlockStoreClient;
import dev.verbatim.shuffle.reader.ReadBatches;
import dev.verbatim.shuffle.registry.DriverLink;
import dev.verbatim.shuffle.registry.MapOutputTables;
import dev.verbatim.shuffle.registry.OutputPublisher;
import dev.verbatim.shuffle.writer.ContainerMemory;
import dev.verbatim.shuffle.writer.OutputRegistrar;
import dev.verbatim.shuffle.writer.RegistrationBudget;
import dev.verbatim.transport.FilePinMode;
import dev.verbatim.transport.PeerAddress;
import dev.verbatim.transport.RdmaTransport;
import dev.verbatim.transport.TransportInfo;
import java.io.File;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import org.apache.spark.SparkEnv;
import org.apache.spark.network.netty.SparkTransportConf;
import org.apache.spark.network.util.TransportConf;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.Option;

/** What an executor has while its RDMA is on: the transport, and the write and the read side. */
final class ActiveRdma implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ActiveRdma.class);

  private final RdmaTransport transport;
  private final Map<Path, FilePinMode> modes;
  private final ExecutorService workers;
  private final ExecutorService io;
  private final OutputRegistrar registrar;
  private final MapOutputTables tables;
  private final FetchContext fetches;

  ActiveRdma(
      RdmaTransport transport,
      RdmaConf conf,
      SparkEnv env,
      DriverLink driver,
      OutputPublisher publisher,
      ShuffleCounters counters) {
    this.transport = transport;
    counters.include(transport::counters);
    FallbackLog log = new FallbackLog();
    modes = probe(transport, env.blockManager().diskBlockManager().localDirs());
    workers = Threads.fixed("fetch", conf.get(RdmaConf.FETCH_THREADS));
    io = Threads.io();
    registrar =
        new OutputRegistrar(
            transport,
            publisher,
            driver.executorId(),
            counters,
            log,
            Threads.bounded(
                "register",
                conf.get(RdmaConf.REGISTRATION_THREADS),
                conf.get(RdmaConf.REGISTRATION_QUEUE)),
            new RegistrationBudget(
                ContainerMemory.budget(
                    conf.get(RdmaConf.MAX_REGISTERED_BYTES),
                    conf.get(RdmaConf.POOL_BYTES),
                    env.conf())),
            conf.get(RdmaConf.COPY_THRESHOLD),
            modes);
    tables = new MapOutputTables(driver);
    TransportConf downloads =
        SparkTransportConf.fromSparkConf(env.conf(), "shuffle", 0, Option.empty(), Option.empty());
    fetches =
        new FetchContext(
            transport,
            tables,
            new IndexCache(),
            new ReadBatches(),
            env.blockManager().blockStoreClient(),
            counters,
            log,
            workers,
            io,
            downloads);
    transport.onPortChange(this::portChanged);
  }

  private static Map<Path, FilePinMode> probe(RdmaTransport transport, File[] folders) {
    Map<Path, FilePinMode> modes = new LinkedHashMap<>();
    for (File folder : folders) {
      modes.put(folder.toPath(), transport.probe(folder.toPath()));
    }
    return modes;
  }

  private void portChanged(boolean active) {
    if (active) {
      LOG.info("The RDMA port is PORT_ACTIVE again: new fetches use RDMA");
    } else if (transport.deviceFailure().isPresent()) {
      LOG.warn("The RDMA device is lost: fetches of this executor go over TCP");
    } else {
      LOG.warn("The RDMA port is not PORT_ACTIVE: new fetches go over TCP until it is again");
    }
  }

  PeerAddress self() {
    return transport.self();
  }

  OutputRegistrar registrar() {
    return registrar;
  }

  /**
   * A client for one reduce task.
   *
   * @param partitions of the shuffle that it reads
   */
  RdmaBlockStoreClient client(int partitions) {
    return new RdmaBlockStoreClient(fetches, partitions);
  }

  void removeShuffle(int shuffleId) {
    tables.remove(shuffleId);
    fetches.indexes().remove(shuffleId);
    registrar.remove(shuffleId);
  }

  /** For people. */
  String device() {
    TransportInfo info = transport.info();
    return "%s port %d (%s)".formatted(info.device(), info.port(), info.linkLayer());
  }

  /** The one line that the log has about it. */
  String describe() {
    TransportInfo info = transport.info();
    return "RDMA on: device %s port %d (%s), GID %d %s, address %s port %d, MTU %d, READ depth %d, "
            .formatted(
                info.device(),
                info.port(),
                info.linkLayer(),
                info.gidIndex(),
                info.gid(),
                info.address().getAddress().getHostAddress(),
                info.address().getPort(),
                info.pathMtu(),
                info.readDepth())
        + "map output files %s".formatted(modes.values().stream().distinct().toList());
  }

  @Override
  public void close() {
    workers.shutdownNow();
    registrar.close();
    transport.close();
    io.shutdownNow();
  }
}
