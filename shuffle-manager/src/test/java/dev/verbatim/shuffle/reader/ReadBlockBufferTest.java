package dev.verbatim.shuffle.reader;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.verbatim.shuffle.reader.ReadBlockBuffer.Slice;
import dev.verbatim.transport.ReadBuffer;
import io.netty.buffer.ByteBuf;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ReadBlockBufferTest {
  private final FakePeer peer = new FakePeer();

  @AfterEach
  void close() {
    peer.close();
  }

  private ReadBuffer buffer() {
    return peer.transport.tryAcquire(16).orElseThrow();
  }

  @Test
  void shouldReturnTheSliceWhenTheLastReferenceIsReleased() {
    ReadBlockBuffer block = new ReadBlockBuffer(List.of(new Slice(buffer(), 4, 8)));

    block.retain();
    block.release();
    assertEquals(1, peer.references.get());
    assertEquals(8, block.nioByteBuffer().remaining());
    block.release();

    assertEquals(0, peer.references.get());
    assertThrows(IllegalStateException.class, block::nioByteBuffer);
    assertThrows(IllegalStateException.class, block::release);
  }

  @Test
  void shouldJoinSlicesWhenThereAreSeveral() throws Exception {
    ReadBlockBuffer block =
        new ReadBlockBuffer(List.of(new Slice(buffer(), 0, 16), new Slice(buffer(), 10, 5)));

    assertEquals(21, block.size());
    assertEquals(21, block.nioByteBuffer().remaining());
    assertArrayEquals(new byte[21], block.createInputStream().readAllBytes());
    assertEquals(2, peer.references.get());
    block.release();
    assertEquals(0, peer.references.get());
  }

  /** Single bytes, arrays and skips in any order give the bytes of the block in their order. */
  @Test
  void shouldStreamEachByteOnceHoweverItIsRead() throws Exception {
    Random random = new Random(3);
    for (int round = 0; round < 500; round++) {
      byte[] bytes = new byte[random.nextInt(5_000)];
      random.nextBytes(bytes);
      ReadBlockBuffer block = new ReadBlockBuffer(List.of(new Slice(buffer(), 0, 16)));
      InputStream stream = new BlockStream(block, ByteBuffer.wrap(bytes));
      InputStream expected = new ByteArrayInputStream(bytes);
      while (expected.available() > 0) {
        assertEquals(expected.available(), stream.available());
        int count = random.nextInt(700);
        switch (random.nextInt(3)) {
          case 0 -> assertEquals(expected.read(), stream.read());
          case 1 -> assertEquals(expected.skip(count), stream.skip(count));
          default -> assertArrayEquals(expected.readNBytes(count), stream.readNBytes(count));
        }
      }
      assertEquals(-1, stream.read());
      assertEquals(-1, stream.read(new byte[1], 0, 1));
      assertEquals(0, stream.skip(1));
      block.release();
      assertThrows(IllegalStateException.class, stream::read);
    }
    assertEquals(0, peer.references.get());
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  void shouldThrowWhenAStreamOutlivesItsBlock(int slices) throws Exception {
    List<Slice> some = Stream.generate(() -> new Slice(buffer(), 0, 16)).limit(slices).toList();
    ReadBlockBuffer block = new ReadBlockBuffer(some);
    InputStream stream = block.createInputStream();
    assertEquals(0, stream.read());

    block.release();

    assertThrows(IllegalStateException.class, stream::read);
    assertThrows(IllegalStateException.class, () -> stream.read(new byte[4]));
    assertEquals(0, peer.references.get());
  }

  @Test
  void shouldLeaveASharedBufferToItsNeighbourWhenReleasedTooOften() throws Exception {
    ReadBuffer shared = buffer();
    ReadBlockBuffer block = new ReadBlockBuffer(List.of(new Slice(shared, 0, 8)));
    ReadBlockBuffer neighbour = new ReadBlockBuffer(List.of(new Slice(shared.retain(), 8, 8)));
    InputStream stream = block.createInputStream();

    block.release();

    assertThrows(IllegalStateException.class, block::release);
    assertThrows(IllegalStateException.class, block::retain);
    assertThrows(IllegalStateException.class, stream::read);
    assertArrayEquals(new byte[8], neighbour.createInputStream().readAllBytes());
    assertEquals(1, peer.references.get());
  }

  @Test
  void shouldStayReadableForNettyWhenTheBlockIsReleased() {
    ReadBlockBuffer block = new ReadBlockBuffer(List.of(new Slice(buffer(), 0, 16)));

    ByteBuf netty = (ByteBuf) block.convertToNetty();
    block.release();

    assertEquals(16, netty.readableBytes());
    netty.release();
  }
}
