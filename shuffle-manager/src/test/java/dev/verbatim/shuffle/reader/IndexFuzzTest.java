package dev.verbatim.shuffle.reader;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;
import static org.mockito.Mockito.withSettings;

import com.code_intelligence.jazzer.junit.FuzzTest;
import com.sun.management.ThreadMXBean;
import dev.verbatim.shuffle.reader.MapOutputLocation.Registered;
import dev.verbatim.shuffle.reader.MapOutputLocation.RemoteAddress;
import dev.verbatim.shuffle.reader.PieceBatches.Piece;
import dev.verbatim.transport.ReadBatch;
import dev.verbatim.transport.ReadBuffer;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Index entries of any content, in map outputs of any shape: what is READ for them lies inside the
 * map output and inside the buffer.
 */
class IndexFuzzTest {
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
  private static final int MOST_BATCHES = 3;
  private static final int MOST_BLOCKS = 64;

  /** For a batch of pieces: a few hundred bytes, and the lists that hold them. */
  private static final long MOST_ALLOCATED = 256 << 10;

  private record Read(long iova, int rkey, long offset, long length) {}

  private final List<Read> reads = new ArrayList<>();
  private final ReadBuffer buffer = mock(ReadBuffer.class, withSettings().stubOnly());
  private final ReadBatch batch = mock(ReadBatch.class, withSettings().stubOnly());

  IndexFuzzTest() {
    // What loading the classes takes is not counted.
    ShuffleBlock block = ShuffleBlock.parse("shuffle_1_2_3").orElseThrow();
    block.length = 1;
    new PieceBatches(List.of(block)).next();
    when(batch.add(anyLong(), anyInt(), any(), anyLong(), anyLong()))
        .thenAnswer(
            call -> {
              reads.add(
                  new Read(
                      call.getArgument(0),
                      call.getArgument(1),
                      call.getArgument(3),
                      call.getArgument(4)));
              return batch;
            });
  }

  /** A map output and entries: 8 + 8 + 1 bytes, 12 for each region, 16 for each block. */
  private static byte[] input(long dataLength, long regionLength, int regions, long... offsets) {
    ByteBuffer input = ByteBuffer.allocate(17 + 12 * regions + 8 * offsets.length);
    input.putLong(dataLength).putLong(regionLength).put((byte) regions);
    for (int i = 0; i < regions; i++) {
      input.putLong(0x7000_0000_0000_0000L + i * regionLength).putInt(40 + i / 2);
    }
    input.asLongBuffer().put(offsets);
    return input.array();
  }

  static Stream<byte[]> seeds() {
    long most = 1L << 40;
    return Stream.of(
        input(100, 100, 1, 0, 60, 60, 100),
        input(100, 100, 1, 0, 101, -1, 10, 20, 10, 10, 10, Long.MIN_VALUE, Long.MAX_VALUE),
        input(1000, 300, 4, 0, 1000, 299, 301, 900, 1000),
        input(3 * (9L << 20), 9L << 20, 3, 5, (27L << 20) - 3),
        input(most, most, 1, 0, most, most - 1, most),
        input(most, most / 2 + 1, 2, 1, most, 1, most + 1),
        input(Long.MAX_VALUE, 1L << 60, 8, 0, Long.MAX_VALUE));
  }

  @MethodSource("seeds")
  @FuzzTest
  void shouldReadInsideTheMapOutputOnly(byte[] data) {
    ByteBuffer input = ByteBuffer.wrap(data.length < 17 ? Arrays.copyOf(data, 17) : data);
    Registered output = output(input);
    if (output == null) {
      return;
    }
    List<ShuffleBlock> placed = new ArrayList<>();
    for (int i = 0; i < MOST_BLOCKS && input.remaining() >= 2 * Long.BYTES; i++) {
      ShuffleBlock block = ShuffleBlock.parse("shuffle_1_2_" + i).orElseThrow();
      block.output = output;
      if (IndexEntries.place(block, input.getLong(), input.getLong())) {
        assertTrue(block.offset >= 0 && block.length > 0, "inside");
        assertTrue(block.offset <= output.dataLength() - block.length, "inside");
        placed.add(block);
      } else {
        assertEquals(0, block.offset + block.length, "left as it was");
      }
    }
    readFirst(placed);
    // The end of each, where lengths could run over.
    for (ShuffleBlock block : placed) {
      int length = (int) Math.min(PieceBatches.PIECE_BYTES, block.length);
      read(List.of(new Piece(block, block.offset + block.length - length, length)));
    }
  }

  /** Null when nobody would take such a record. */
  private static Registered output(ByteBuffer input) {
    long dataLength = input.getLong();
    long regionLength = input.getLong();
    int count = Math.min(input.get() & 0xff, input.remaining() / 12);
    List<RemoteAddress> regions = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      regions.add(new RemoteAddress(input.getLong(), input.getInt()));
    }
    try {
      return new Registered(
          2, "1", regions, regionLength, dataLength, new RemoteAddress(1L << 50, 7));
    } catch (IllegalArgumentException expected) {
      return null;
    }
  }

  private void readFirst(List<ShuffleBlock> placed) {
    PieceBatches batches = new PieceBatches(placed);
    long total = placed.stream().mapToLong(block -> block.length).sum();
    long given = 0;
    for (int i = 0; i < MOST_BATCHES; i++) {
      long before = THREADS.getCurrentThreadAllocatedBytes();
      List<Piece> pieces = batches.next();
      long allocated = THREADS.getCurrentThreadAllocatedBytes() - before;
      assertTrue(allocated <= MOST_ALLOCATED, () -> allocated + " bytes for a batch");
      long bytes = pieces.stream().mapToLong(Piece::length).sum();
      assertTrue(bytes <= PieceBatches.BATCH_BYTES, () -> bytes + " bytes in a batch");
      assertEquals(given == total, pieces.isEmpty());
      given += bytes;
      read(pieces);
    }
  }

  private void read(List<Piece> pieces) {
    reads.clear();
    ReadPlan plan = new ReadPlan(batch);
    long at = 0;
    for (Piece piece : pieces) {
      assertTrue(piece.length() > 0 && piece.length() <= PieceBatches.PIECE_BYTES, "bounded");
      plan.add(piece.block().output, piece.position(), piece.length(), buffer, at);
      at += piece.length();
    }
    plan.batch();
    check(pieces);
  }

  /** The READs bring exactly the bytes of the pieces, in order, from where the regions are. */
  private void check(List<Piece> pieces) {
    int next = 0;
    long within = 0;
    long at = 0;
    for (Piece piece : pieces) {
      Registered output = piece.block().output;
      for (long done = 0; done < piece.length(); ) {
        Read read = reads.get(next);
        long position = piece.position() + done;
        RemoteAddress region =
            output.regions().get(Math.toIntExact(position / output.regionLength()));
        long inRegion = position % output.regionLength();
        assertEquals(region.rkey(), read.rkey());
        assertEquals(region.iova() + inRegion, read.iova() + within);
        assertEquals(at, read.offset() + within);
        long count =
            Math.min(
                Math.min(piece.length() - done, output.regionLength() - inRegion),
                read.length() - within);
        assertTrue(count > 0, "READs end where the pieces end");
        done += count;
        at += count;
        within += count;
        if (within == read.length()) {
          next++;
          within = 0;
        }
      }
    }
    assertEquals(reads.size(), next, "nothing more is READ");
  }
}
