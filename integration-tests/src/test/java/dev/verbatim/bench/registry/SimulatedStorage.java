package dev.verbatim.bench.registry;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.spark.rpc.RpcAddress;
import org.apache.spark.rpc.RpcCallContext;
import org.apache.spark.rpc.RpcEndpointRef;
import org.apache.spark.rpc.RpcEnv;
import org.apache.spark.rpc.ThreadSafeRpcEndpoint;
import org.apache.spark.storage.BlockId;
import org.apache.spark.storage.BlockId$;
import org.apache.spark.storage.BlockManagerId;
import org.apache.spark.storage.BlockManagerMaster;
import org.apache.spark.storage.BlockManagerMessages.BlockLocationsAndStatus;
import org.apache.spark.storage.BlockManagerMessages.GetLocationsAndStatus;
import org.apache.spark.storage.BlockManagerMessages.RegisterBlockManager;
import org.apache.spark.storage.BlockManagerMessages.RemoveBroadcast;
import org.apache.spark.storage.BlockManagerMessages.UpdateBlockInfo;
import org.apache.spark.storage.BroadcastBlockId;
import org.apache.spark.storage.StorageLevel;
import scala.Option;
import scala.PartialFunction;
import scala.runtime.AbstractPartialFunction;
import scala.runtime.BoxedUnit;

/**
 * The block managers of simulated executors, as far as a broadcast has them speak with the driver's
 * (Spark's TorrentBroadcast and BlockManager): where is a piece, a piece is here, a piece is here
 * no more. They keep nothing, and fetch nothing from each other.
 */
final class SimulatedStorage {
  private static final long PIECE_BYTES = 4 << 20;
  private static final long MEMORY_BYTES = 1L << 30;

  private final RpcEnv rpc;
  private final RpcEndpointRef master;
  private final Asks asks;
  private final List<RpcEndpointRef> endpoints = new ArrayList<>();

  /** Those that the driver knows. */
  private final List<BlockManagerId> managers = new ArrayList<>();

  private final LinkedBlockingQueue<Removal> removals = new LinkedBlockingQueue<>();

  /** Somebody has been told to remove a broadcast. */
  private record Removal(BlockManagerId manager, long broadcast) {}

  SimulatedStorage(RpcEnv rpc, RpcAddress driver, Asks asks) {
    this.rpc = rpc;
    this.master = rpc.setupEndpointRef(driver, BlockManagerMaster.DRIVER_ENDPOINT_NAME());
    this.asks = asks;
  }

  /** There shall be so many block managers; the driver has forgotten those that are too many. */
  void register(int executors) throws InterruptedException {
    while (managers.size() > executors) {
      managers.removeLast();
    }
    while (managers.size() < executors) {
      BlockManagerId id = SimulatedShuffle.location(managers.size());
      if (endpoints.size() == managers.size()) {
        endpoints.add(rpc.setupEndpoint("storage-" + id.executorId(), new Endpoint(id)));
      }
      RpcEndpointRef endpoint = endpoints.get(managers.size());
      managers.add(id);
      asks.ask(
          master,
          new RegisterBlockManager(id, new String[0], MEMORY_BYTES, 0, endpoint, false),
          BlockManagerId.class,
          answer -> {});
    }
    asks.await();
  }

  /**
   * All executors get the pieces of a broadcast. The driver has them; at first one executor asks,
   * and then each time as many as have them already, the least time in which all can get them from
   * one another.
   *
   * @param atOnce all ask before one has them instead, though they would have to get them from the
   *     driver then
   */
  void spread(boolean atOnce, List<String> pieces) throws InterruptedException {
    List<BlockId> blocks = pieces.stream().map(BlockId$.MODULE$::apply).toList();
    int first = atOnce ? managers.size() : 1;
    for (int from = 0, to = first; from < managers.size(); from = to, to = 2 * to) {
      List<BlockManagerId> wave = managers.subList(from, Math.min(to, managers.size()));
      int have = from + 1;
      for (BlockManagerId manager : wave) {
        for (BlockId block : blocks) {
          asks.ask(
              master,
              new GetLocationsAndStatus(block, manager.host()),
              Option.class,
              answer -> checkLocations((BlockLocationsAndStatus) answer.get(), have));
        }
      }
      asks.await();
      for (BlockManagerId manager : wave) {
        for (BlockId block : blocks) {
          update(manager, block, StorageLevel.MEMORY_ONLY_SER(), PIECE_BYTES);
        }
      }
      asks.await();
    }
  }

  private static void checkLocations(BlockLocationsAndStatus answer, int expected) {
    if (answer.locations().size() != expected) {
      throw new IllegalStateException(
          answer.locations().size() + " have a piece, expected " + expected);
    }
  }

  /** Waits until all executors have been told to remove a broadcast, and says that they have. */
  void remove(List<String> pieces) throws InterruptedException {
    List<BlockId> blocks = pieces.stream().map(BlockId$.MODULE$::apply).toList();
    long broadcast = ((BroadcastBlockId) blocks.getFirst()).broadcastId();
    for (int i = 0; i < managers.size(); i++) {
      Removal removal = removals.poll(1, TimeUnit.MINUTES);
      if (removal == null || removal.broadcast() != broadcast) {
        throw new IllegalStateException(i + " executors were told to remove, then " + removal);
      }
      for (BlockId block : blocks) {
        update(removal.manager(), block, StorageLevel.NONE(), 0);
      }
    }
    asks.await();
    if (!removals.isEmpty()) {
      throw new IllegalStateException("removed once more: " + removals.peek());
    }
  }

  private void update(BlockManagerId manager, BlockId block, StorageLevel level, long bytes)
      throws InterruptedException {
    asks.ask(
        master,
        new UpdateBlockInfo(manager, block, level, bytes, 0),
        Boolean.class,
        known -> {
          if (!known) {
            throw new IllegalStateException("the driver does not know " + manager);
          }
        });
  }

  /** What the driver speaks to. */
  private final class Endpoint implements ThreadSafeRpcEndpoint {
    private final BlockManagerId id;

    Endpoint(BlockManagerId id) {
      this.id = id;
    }

    @Override
    public RpcEnv rpcEnv() {
      return rpc;
    }

    @Override
    public PartialFunction<Object, BoxedUnit> receiveAndReply(RpcCallContext context) {
      return new AbstractPartialFunction<>() {
        @Override
        public boolean isDefinedAt(Object message) {
          return message instanceof RemoveBroadcast;
        }

        @Override
        public BoxedUnit apply(Object message) {
          context.reply(0);
          removals.add(new Removal(id, ((RemoveBroadcast) message).broadcastId()));
          return BoxedUnit.UNIT;
        }
      };
    }
  }
}
