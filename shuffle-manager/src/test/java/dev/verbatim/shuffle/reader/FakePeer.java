package dev.verbatim.shuffle.reader;

import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.mockConstruction;
import static org.mockito.Mockito.spy;
import static org.mockito.Mockito.when;

import dev.verbatim.shuffle.fallback.FallbackLog;
import dev.verbatim.shuffle.metrics.ShuffleCounters;
import dev.verbatim.shuffle.reader.MapOutputLocation.Registered;
import dev.verbatim.shuffle.reader.MapOutputLocation.RemoteAddress;
import dev.verbatim.shuffle.reader.MapOutputLocator.Located;
import dev.verbatim.transport.PeerAddress;
import dev.verbatim.transport.PeerConnection;
import dev.verbatim.transport.RdmaTransport;
import dev.verbatim.transport.ReadBatch;
import dev.verbatim.transport.ReadBuffer;
import dev.verbatim.transport.ReadFailure;
import dev.verbatim.transport.ReadListener;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntFunction;
import java.util.function.IntPredicate;
import java.util.function.Supplier;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.network.util.MapConfigProvider;
import org.apache.spark.network.util.TransportConf;
import org.mockito.MockedConstruction;
import org.mockito.invocation.InvocationOnMock;

/** A transport without a device: the peer's memory is a map of byte arrays. */
final class FakePeer implements AutoCloseable {
  /** Where the peer is, as its executor 1 has told. */
  static final PeerState ON =
      new PeerState.On(new PeerAddress("1", new InetSocketAddress("10.0.0.1", 7), 9));

  /** A map output in the peer's memory: partition {@code i} lies between two offsets. */
  record Output(Registered location, byte[] data, long[] offsets) {
    byte[] partition(int i) {
      return Arrays.copyOfRange(data, (int) offsets[i], (int) offsets[i + 1]);
    }
  }

  record Read(long iova, int rkey, ReadBuffer buffer, long offset, long length) {}

  private record Batch(ReadListener listener, List<Read> reads) {}

  final RdmaTransport transport = mock(RdmaTransport.class);
  final PeerConnection connection = mock(PeerConnection.class);

  /** READs of each batch that was posted. */
  final List<List<Read>> posted = new ArrayList<>();

  /** References to all buffers that are not released yet. */
  final AtomicInteger references = new AtomicInteger();

  /** What the batch of this number ends with; null for success. */
  IntFunction<ReadFailure> failures = number -> null;

  /** Keys that the peer has deregistered. */
  final Set<Integer> stale = new HashSet<>();

  /** Which releases of buffers throw, after they are done; counted from 1. */
  IntPredicate badReleases = nth -> false;

  /** What this executor keeps of the peer's indexes. */
  final IndexCache indexes = spy(new IndexCache());

  /** Partitions of each map output, as far as it is asked for; 0 without one. */
  int partitions;

  /** Whether batches cannot be made, for want of memory. */
  boolean noBatches;

  private int releases;

  /** Bytes of the longest buffer that there is room for. */
  int longestBuffer = Integer.MAX_VALUE;

  /** How many buffers may still be acquired. */
  int buffers = Integer.MAX_VALUE;

  /** Since a READ has failed, until somebody connects. */
  private boolean down;

  private final Map<Integer, byte[]> memory = new HashMap<>();
  private final Map<Integer, Long> bases = new HashMap<>();
  private final Map<ReadBuffer, byte[]> landings = new HashMap<>();
  private final Map<ReadBatch, Batch> batches = new HashMap<>();
  private final MockedConstruction<ReadBatch> construction;

  FakePeer() {
    construction =
        mockConstruction(
            ReadBatch.class,
            (mock, context) -> {
              if (noBatches) {
                throw new OutOfMemoryError("test");
              }
              Batch batch = new Batch((ReadListener) context.arguments().get(0), new ArrayList<>());
              batches.put(mock, batch);
              when(mock.add(anyLong(), anyInt(), any(), anyLong(), anyLong()))
                  .thenAnswer(
                      call -> {
                        batch.reads().add(read(call));
                        return mock;
                      });
              doAnswer(
                      call -> {
                        batch.reads().clear();
                        return null;
                      })
                  .when(mock)
                  .clear();
            });
    when(transport.portActive()).thenReturn(true);
    when(transport.connect(any()))
        .thenAnswer(
            call -> {
              down = false;
              return CompletableFuture.completedFuture(connection);
            });
    when(transport.tryAcquire(anyLong()))
        .thenAnswer(call -> acquire(Math.toIntExact(call.<Long>getArgument(0))));
    doAnswer(call -> post(call.getArgument(0))).when(connection).read(any());
  }

  private static Read read(InvocationOnMock call) {
    return new Read(
        call.getArgument(0),
        call.getArgument(1),
        call.getArgument(2),
        call.getArgument(3),
        call.getArgument(4));
  }

  /** What a client needs that READs from this peer. */
  FetchContext context(
      Supplier<Located> answer,
      BlockStoreClient stock,
      ShuffleCounters counters,
      Executor workers,
      Executor io) {
    return new FetchContext(
        transport,
        (shuffleId, executorId, mapIds) -> CompletableFuture.completedFuture(answer.get()),
        indexes,
        new ReadBatches(),
        stock,
        counters,
        new FallbackLog(),
        workers,
        io,
        new TransportConf("shuffle", new MapConfigProvider(Map.of())));
  }

  /** Puts a map output of executor 1 into the peer's memory, its partitions of these lengths. */
  Output output(long mapId, int regionLength, int... partitions) {
    long[] offsets = new long[partitions.length + 1];
    for (int i = 0; i < partitions.length; i++) {
      offsets[i + 1] = offsets[i] + partitions[i];
    }
    this.partitions =
        this.partitions == 0 ? partitions.length : Math.min(this.partitions, partitions.length);
    byte[] data = new byte[(int) offsets[partitions.length]];
    new Random(mapId).nextBytes(data);
    return new Output(register(mapId, "1", data, offsets, regionLength), data, offsets);
  }

  /** Puts a map output into the peer's memory, its data in regions of a given size. */
  Registered register(
      long mapId, String executorId, byte[] data, long[] offsets, int regionLength) {
    List<RemoteAddress> regions = new ArrayList<>();
    for (int from = 0; from < data.length; from += regionLength) {
      int length = Math.min(regionLength, data.length - from);
      regions.add(region(Arrays.copyOfRange(data, from, from + length)));
    }
    ByteBuffer index = ByteBuffer.allocate(offsets.length * Long.BYTES);
    index.asLongBuffer().put(offsets);
    return new Registered(
        mapId, executorId, regions, regionLength, data.length, region(index.array()));
  }

  private RemoteAddress region(byte[] bytes) {
    int rkey = memory.size() + 100;
    long base = 0x5000_0000_0000L * (1 + memory.size() % 3) + rkey * 0x1_0000_0000L;
    memory.put(rkey, bytes);
    bases.put(rkey, base);
    return new RemoteAddress(base, rkey);
  }

  private Optional<ReadBuffer> acquire(int bytes) {
    if (buffers == 0 || bytes > longestBuffer) {
      return Optional.empty();
    }
    buffers--;
    ReadBuffer buffer = mock(ReadBuffer.class);
    AtomicInteger count = new AtomicInteger(1);
    byte[] landing = new byte[bytes];
    landings.put(buffer, landing);
    references.incrementAndGet();
    when(buffer.length()).thenReturn((long) bytes);
    when(buffer.retain())
        .thenAnswer(
            call -> {
              count.incrementAndGet();
              references.incrementAndGet();
              return buffer;
            });
    doAnswer(
            call -> {
              if (count.getAndDecrement() <= 0) {
                throw new IllegalStateException("released too often");
              }
              references.decrementAndGet();
              if (badReleases.test(++releases)) {
                throw new InternalError("test");
              }
              return null;
            })
        .when(buffer)
        .release();
    when(buffer.asByteBuffer(anyLong(), anyInt()))
        .thenAnswer(
            call -> {
              if (count.get() <= 0) {
                throw new IllegalStateException("released");
              }
              int offset = Math.toIntExact(call.<Long>getArgument(0));
              return ByteBuffer.wrap(landing, offset, call.<Integer>getArgument(1))
                  .slice()
                  .asReadOnlyBuffer();
            });
    return Optional.of(buffer);
  }

  private Void post(ReadBatch mock) {
    Batch batch = batches.get(mock);
    ReadFailure failure = failure(batch);
    List<Read> reads = List.copyOf(batch.reads());
    batch.reads().clear(); // as the real one: its listener may fill it again
    posted.add(reads);
    if (failure != null) {
      down = true;
      batch.listener().onFailure(failure);
      return null;
    }
    for (Read read : reads) {
      byte[] source = memory.get(read.rkey());
      int from = Math.toIntExact(read.iova() - bases.get(read.rkey()));
      int to = Math.toIntExact(read.offset());
      System.arraycopy(source, from, landings.get(read.buffer()), to, (int) read.length());
    }
    batch.listener().onSuccess();
    return null;
  }

  private ReadFailure failure(Batch batch) {
    if (down) {
      return new ReadFailure(ReadFailure.Kind.DISCONNECTED, "another READ failed");
    }
    if (batch.reads().stream().anyMatch(read -> stale.contains(read.rkey()))) {
      return new ReadFailure(ReadFailure.Kind.REMOTE_ACCESS, "stale key");
    }
    return failures.apply(posted.size());
  }

  @Override
  public void close() {
    construction.close();
  }
}
