package dev.verbatim.shuffle.fallback;

import dev.verbatim.transport.ReadFailure;
import dev.verbatim.transport.RegistrationException;
import dev.verbatim.transport.UnavailableReason;

/** Every reason for which blocks travel by Spark's own transfer instead of RDMA READ. */
public enum FallbackReason {
  FORCED_OFF(Scope.PROCESS, "RDMA is switched off", "set spark.shuffle.rdma.enabled=true"),
  SPARK_VERSION(Scope.PROCESS, "this is not Spark 4.2", "use Spark 4.2.x"),
  JDK_TOO_OLD(
      Scope.PROCESS,
      "this JDK may move pinned objects (JDK-8377811)",
      "use JDK 25.0.3 or newer on the driver and the executors"),
  INVALID_CONFIGURATION(
      Scope.PROCESS, "a setting of this host is not valid", "correct rdma-site.xml of this host"),
  LOCAL_MODE(
      Scope.PROCESS, "master is local: no block crosses a network", "use a master with executors"),
  EXTERNAL_SHUFFLE_SERVICE(
      Scope.PROCESS,
      "blocks are served by the external shuffle service and outlive their executors",
      "set spark.shuffle.service.enabled=false, and for dynamic allocation"
          + " spark.dynamicAllocation.shuffleTracking.enabled=true"),
  OLD_FETCH_PROTOCOL(
      Scope.PROCESS,
      "map ids are not unique with the old fetch protocol",
      "set spark.shuffle.useOldFetchProtocol=false"),
  ENCRYPTION_REQUIRED(
      Scope.PROCESS,
      "the network must be encrypted and RDMA READ is not",
      "set spark.io.encryption.enabled=true, or spark.shuffle.rdma.allowUnencrypted=true"),
  REGISTRY_UNREACHABLE(
      Scope.PROCESS,
      "the driver's registry did not answer",
      "use the same plugin on the driver; look into the driver's log"),
  NO_LIBRARY(
      Scope.PROCESS,
      "libibverbs.so.1 or librdmacm.so.1 is missing",
      "install libibverbs1, ibverbs-providers and librdmacm1 (Debian) or rdma-core (RHEL)"),
  NO_DEVICE(Scope.PROCESS, "no RDMA device is visible", "see ibv_devices; load the driver"),
  NO_PERMISSION(Scope.PROCESS, "the device cannot be opened", "give access to /dev/infiniband/*"),
  PORT_NOT_ACTIVE(Scope.ANY, "the port is not PORT_ACTIVE", "see ibv_devinfo; check the link"),
  ADDRESS_NOT_RDMA(
      Scope.PROCESS,
      "the address belongs to no RDMA device",
      "set spark.shuffle.rdma.address to one that does"),
  MEMLOCK(
      Scope.ANY,
      "RLIMIT_MEMLOCK is too small to pin memory",
      "raise it: LimitMEMLOCK (systemd), --ulimit memlock (Docker), IPC_LOCK (Kubernetes,"
          + " as root)"),
  MAPPING_LIMIT(
      Scope.ANY,
      "the process can map no more memory",
      "raise vm.max_map_count and ulimit -v, or spark.shuffle.rdma.copyThreshold to map fewer"
          + " files"),
  INCOMPATIBLE_LIBRARY(
      Scope.PROCESS, "the native library does not match", "use a supported rdma-core"),
  DEVICE_ERROR(Scope.ANY, "the device reported an error", "look into the kernel's log"),

  PUSH_BASED_SHUFFLE(
      Scope.SHUFFLE, "the shuffle is merged by push", "set spark.shuffle.push.enabled=false"),

  PEER_WITHOUT_RDMA(Scope.PEER, "the peer has RDMA off", "see the peer's log for its reason"),
  CONNECTION_FAILED(Scope.PEER, "no connection to the peer", "check the RDMA network's routes"),

  REGISTRATION_BACKLOG(
      Scope.OUTPUT,
      "too many map outputs were waiting to be registered",
      "raise spark.shuffle.rdma.registrationThreads or registrationQueue"),
  BUDGET_REACHED(
      Scope.OUTPUT,
      "the budget of registered memory is used up",
      "raise spark.shuffle.rdma.maxRegisteredBytes, or spark.executor.memoryOverhead where the log"
          + " says that the container is too small"),
  FILE_NOT_PINNABLE(
      Scope.OUTPUT,
      "the file could be neither registered nor copied",
      "put spark.local.dir on a local file system"),
  FILE_UNREADABLE(
      Scope.OUTPUT,
      "the map output's files could not be read",
      "check the disk; spark.shuffle.sort.io.plugin.class may have stored them elsewhere"),
  SHUFFLE_REMOVED(Scope.OUTPUT, "the shuffle was removed meanwhile", "none needed"),
  RECORD_MISSING(
      Scope.OUTPUT,
      "the registry has no record of the map output",
      "raise spark.shuffle.rdma.registry.hold if registration is slow"),
  REGISTRY_FAILED(Scope.OUTPUT, "the registry did not answer", "look into the driver's log"),
  OUTPUT_MOVED(Scope.OUTPUT, "the block is at another executor than its record", "none needed"),

  POOL_EXHAUSTED(
      Scope.BLOCK,
      "no buffer was free",
      "raise spark.shuffle.rdma.poolBytes; the log says so where the pool could not grow to it"),
  INDEX_INVALID(
      Scope.BLOCK, "the index entries are not plausible", "none: Spark's own checks follow"),
  READ_FAILED(Scope.BLOCK, "a READ failed or was late", "check the network; see the READ's error"),
  BLOCK_CORRUPT(
      Scope.BLOCK,
      "Spark found a block corrupt that had come by RDMA and asked for it again",
      "check memory and network; keep spark.shuffle.checksum.enabled=true"),
  DOWNLOAD_FAILED(Scope.BLOCK, "the block could not be written to disk", "check the disk");

  /** What a reason holds for. */
  public enum Scope {
    PROCESS,
    SHUFFLE,
    PEER,
    OUTPUT,
    BLOCK,
    /** At start for the process, later for what was just tried. */
    ANY
  }

  private final Scope scope;
  private final String meaning;
  private final String remedy;

  FallbackReason(Scope scope, String meaning, String remedy) {
    this.scope = scope;
    this.meaning = meaning;
    this.remedy = remedy;
  }

  public Scope scope() {
    return scope;
  }

  public String meaning() {
    return meaning;
  }

  public String remedy() {
    return remedy;
  }

  public static FallbackReason of(UnavailableReason reason) {
    return switch (reason) {
      case NO_LIBRARY -> NO_LIBRARY;
      case NO_DEVICE -> NO_DEVICE;
      case NO_PERMISSION -> NO_PERMISSION;
      case PORT_NOT_ACTIVE -> PORT_NOT_ACTIVE;
      case ADDRESS_NOT_RDMA -> ADDRESS_NOT_RDMA;
      case MEMLOCK -> MEMLOCK;
      case MAPPING_LIMIT -> MAPPING_LIMIT;
      case INCOMPATIBLE_LIBRARY -> INCOMPATIBLE_LIBRARY;
      case DEVICE_ERROR -> DEVICE_ERROR;
    };
  }

  public static FallbackReason of(ReadFailure.Kind kind) {
    return switch (kind) {
      case LOCAL_PORT -> PORT_NOT_ACTIVE;
      case LOCAL_DEVICE -> DEVICE_ERROR;
      case REMOTE_ACCESS, PEER_UNREACHABLE, DEADLINE, DISCONNECTED, OTHER -> READ_FAILED;
    };
  }

  public static FallbackReason of(RegistrationException.Kind kind) {
    return switch (kind) {
      case MEMLOCK -> MEMLOCK;
      case MAPPING -> MAPPING_LIMIT;
      case NOT_PINNABLE -> FILE_NOT_PINNABLE;
      case FILE -> FILE_UNREADABLE;
      case DEVICE -> DEVICE_ERROR;
    };
  }
}
