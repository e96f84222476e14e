package dev.verbatim.shuffle.conf;

import dev.verbatim.transport.TransportConfig;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.spark.SparkConf;

/**
 * The validated settings of a process. A value comes from Spark's configuration, else from {@code
 * rdma-site.xml}, else from the entry's default.
 */
public final class RdmaConf {
  public static final String SPARK_PREFIX = "spark.shuffle.rdma.";
  public static final String SITE_PREFIX = "rdma.";

  private static final long LARGEST_PAGE = 64 << 10;

  private static final List<ConfigEntry<?>> ENTRIES = new ArrayList<>();

  public static final ConfigEntry<Boolean> ENABLED =
      add(
          ConfigEntry.flag(
              "enabled", true, "Use RDMA where possible; `false` keeps all blocks on TCP."));
  public static final ConfigEntry<String> DEVICE =
      add(
          ConfigEntry.text(
              "device",
              "name of an RDMA device, or empty",
              "RDMA device to use, for example `mlx5_0`; empty: the best active one."));
  public static final ConfigEntry<Integer> PORT =
      add(ConfigEntry.integer("port", 0, 0, 254, "Port of the device; 0: the best active one."));
  public static final ConfigEntry<String> ADDRESS =
      add(
          ConfigEntry.ipAddress(
              "address",
              "IP address of the RDMA port to listen at; empty: an address of the chosen port."));
  public static final ConfigEntry<Integer> LISTEN_PORT =
      add(
          ConfigEntry.integer(
              "listenPort",
              0,
              0,
              65535,
              "Port number of the RDMA CM listener; 0: the system chooses. Fix it only where each"
                  + " host runs one executor."));
  public static final ConfigEntry<Integer> READ_DEPTH =
      add(
          ConfigEntry.integer(
              "readDepth",
              16,
              1,
              255,
              "READs outstanding per queue pair; the limits of both devices are applied."));
  public static final ConfigEntry<Integer> QPS_PER_PEER =
      add(ConfigEntry.integer("qpsPerPeer", 1, 1, 64, "Queue pairs per pair of executors."));
  public static final ConfigEntry<Integer> MAX_CONNECTIONS =
      add(
          ConfigEntry.integer(
              "maxConnections",
              1024,
              1,
              65536,
              "Queue pairs that an executor keeps at most, initiated and accepted, no fewer than"
                  + " `qpsPerPeer`. When all are in"
                  + " use, one that was accepted longer ago than `idleTimeout` makes room."));
  public static final ConfigEntry<Integer> TRAFFIC_CLASS =
      add(
          ConfigEntry.integer(
              "trafficClass",
              0,
              0,
              255,
              "IP ToS byte of RoCE packets on both sides; 0 leaves the system's."));
  public static final ConfigEntry<Duration> CONNECT_TIMEOUT =
      add(
          ConfigEntry.time(
              "connectTimeout",
              "5s",
              "100ms",
              "5m",
              "Longest time for a whole connect; after it the blocks go over TCP."));
  public static final ConfigEntry<Duration> READ_TIMEOUT =
      add(
          ConfigEntry.time(
              "readTimeout",
              "10s",
              "100ms",
              "10m",
              "Longest time for a batch of READs; after it the blocks go over TCP."));
  public static final ConfigEntry<Duration> IDLE_TIMEOUT =
      add(
          ConfigEntry.time(
              "idleTimeout", "5m", "1s", "24h", "A connection without READs is closed after it."));
  public static final ConfigEntry<Duration> RETRY_BACKOFF =
      add(
          ConfigEntry.time(
              "retryBackoff",
              "5s",
              "0ms",
              "10m",
              "After a failed connect a peer is left to TCP for this long."));
  public static final ConfigEntry<Long> POOL_BYTES =
      add(
          ConfigEntry.bytes(
              "poolBytes",
              "512m",
              "16m",
              "1t",
              "Registered memory that READs land in, per executor, at most. Blocks that find it"
                  + " used up go over TCP."));
  public static final ConfigEntry<Long> SLAB_BYTES =
      add(
          ConfigEntry.bytes(
              "slabBytes",
              "16m",
              "64k",
              "1g",
              "Bytes that the pool grows by, rounded up to a multiple of 64k; `poolBytes` at most."));
  public static final ConfigEntry<Boolean> HUGE_PAGES =
      add(ConfigEntry.flag("hugePages", true, "Ask for huge pages for the pool first."));
  public static final ConfigEntry<Duration> SPIN =
      add(
          ConfigEntry.time(
              "spin",
              "20us",
              "0us",
              "10ms",
              "How long the completion poller spins before it blocks."));
  public static final ConfigEntry<Long> MAX_REGISTERED_BYTES =
      add(
          ConfigEntry.bytes(
              "maxRegisteredBytes",
              "4g",
              "0",
              "1024t",
              "Map output registered per executor at most. It is pinned: it counts against the"
                  + " host's memory. Less in a container that has no room for it. Map outputs beyond"
                  + " it stay on TCP."));
  public static final ConfigEntry<Long> COPY_THRESHOLD =
      add(
          ConfigEntry.bytes(
              "copyThreshold",
              "1m",
              "0",
              "64m",
              "Map outputs up to this size are copied into shared registered slabs; larger ones"
                  + " are mapped and registered in place."));
  public static final ConfigEntry<Integer> REGISTRATION_THREADS =
      add(
          ConfigEntry.integer(
              "registrationThreads", 2, 1, 64, "Threads that register committed map outputs."));
  public static final ConfigEntry<Integer> REGISTRATION_QUEUE =
      add(
          ConfigEntry.integer(
              "registrationQueue",
              4096,
              1,
              1_000_000,
              "Map outputs that may wait to be registered; further ones stay on TCP."));
  public static final ConfigEntry<Integer> FETCH_THREADS =
      add(
          ConfigEntry.integer(
              "fetchThreads", 2, 1, 64, "Threads that carry fetches on after each READ."));
  public static final ConfigEntry<Boolean> ALLOW_UNENCRYPTED =
      add(
          ConfigEntry.flag(
              "allowUnencrypted",
              false,
              "Let RDMA carry data in clear although the settings of Spark demand an encrypted"
                  + " network."));
  public static final ConfigEntry<Duration> REGISTRY_TIMEOUT =
      add(
          ConfigEntry.time(
              "registry.timeout",
              "10s",
              "100ms",
              "5m",
              "Longest wait for an answer of the driver's registry, beyond `registry.hold`; after it"
                  + " blocks go over TCP."));
  public static final ConfigEntry<Duration> REGISTRY_HOLD =
      add(
          ConfigEntry.time(
              "registry.hold",
              "2s",
              "0ms",
              "60s",
              "How long the driver holds an answer back for records of map outputs that are still"
                  + " being registered."));
  public static final ConfigEntry<Duration> PUBLISH_DELAY =
      add(
          ConfigEntry.time(
              "registry.publishDelay",
              "5ms",
              "0ms",
              "10s",
              "How long an executor gathers records before it sends them to the driver, once no map"
                  + " task of their shuffle runs in it."));
  public static final ConfigEntry<Duration> REPORT_INTERVAL =
      add(
          ConfigEntry.time(
              "metrics.reportInterval",
              "2s",
              "100ms",
              "1h",
              "How often an executor sends changed counters to the driver, besides when the last"
                  + " task that reads a shuffle ends in it."));

  private final Map<ConfigEntry<?>, Object> values;
  private final List<String> warnings;

  private RdmaConf(Map<ConfigEntry<?>, Object> values, List<String> warnings) {
    this.values = values;
    this.warnings = List.copyOf(warnings);
  }

  private static <T> ConfigEntry<T> add(ConfigEntry<T> entry) {
    ENTRIES.add(entry);
    return entry;
  }

  /** All entries in the order of the reference. */
  public static List<ConfigEntry<?>> entries() {
    return List.copyOf(ENTRIES);
  }

  /**
   * Reads and validates all settings of this process.
   *
   * @throws IllegalArgumentException naming key, value and range of the first value that is wrong
   */
  public static RdmaConf load(SparkConf conf) {
    return load(conf, SiteFile.read());
  }

  static RdmaConf load(SparkConf conf, Map<String, String> site) {
    Map<ConfigEntry<?>, Object> values = new HashMap<>();
    for (ConfigEntry<?> entry : ENTRIES) {
      String key = entry.sparkKey();
      Optional<String> text = Optional.ofNullable(conf.get(key, null));
      if (text.isEmpty()) {
        text = Optional.ofNullable(site.get(entry.siteKey()));
        key = text.isPresent() ? entry.siteKey() + " (" + SiteFile.NAME + ")" : key;
      }
      values.put(entry, entry.parse(key, text.orElse(entry.defaultText())));
    }
    RdmaConf rdma = new RdmaConf(values, UnknownKeys.warnings(conf, site.keySet()));
    rdma.checkTogether();
    return rdma;
  }

  /**
   * Here and not by the transport: the driver has none, and is to refuse what no executor takes.
   */
  private void checkTogether() {
    if (get(POOL_BYTES) < slabBytes()) {
      throw lessThan(POOL_BYTES, SLAB_BYTES);
    }
    if (get(MAX_CONNECTIONS) < get(QPS_PER_PEER)) {
      throw lessThan(MAX_CONNECTIONS, QPS_PER_PEER);
    }
  }

  private IllegalArgumentException lessThan(ConfigEntry<?> one, ConfigEntry<?> other) {
    return new IllegalArgumentException(
        "%s = %s is not valid: less than %s = %s; raise the one or lower the other"
            .formatted(one.sparkKey(), get(one), other.sparkKey(), get(other)));
  }

  /** Whole pages on every host: none has larger ones than 64 KiB. */
  private int slabBytes() {
    return Math.toIntExact(Math.ceilDiv(get(SLAB_BYTES), LARGEST_PAGE) * LARGEST_PAGE);
  }

  /** The defaults, for a process whose settings are not valid. */
  public static RdmaConf defaults() {
    return load(new SparkConf(false), Map.of());
  }

  /** Warnings about keys that are not known. */
  public List<String> warnings() {
    return warnings;
  }

  @SuppressWarnings("unchecked") // load puts the value that the entry itself has parsed
  public <T> T get(ConfigEntry<T> entry) {
    return (T) values.get(entry);
  }

  /** What the transport is opened with; the caller adds the names and the token. */
  public TransportConfig transportConfig() {
    String device = get(DEVICE);
    String address = get(ADDRESS);
    return new TransportConfig()
        .deviceName(device.isEmpty() ? null : device)
        .port(get(PORT))
        .address(address.isEmpty() ? null : ConfigEntry.parseAddress(address))
        .listenPort(get(LISTEN_PORT))
        .readDepth(get(READ_DEPTH))
        .qpsPerPeer(get(QPS_PER_PEER))
        .maxConnections(get(MAX_CONNECTIONS))
        .trafficClass(get(TRAFFIC_CLASS))
        .connectTimeout(get(CONNECT_TIMEOUT))
        .readTimeout(get(READ_TIMEOUT))
        .idleTimeout(get(IDLE_TIMEOUT))
        .retryBackoff(get(RETRY_BACKOFF))
        .poolBytes(get(POOL_BYTES))
        .slabBytes(slabBytes())
        .hugePages(get(HUGE_PAGES))
        .spin(get(SPIN));
  }
}
