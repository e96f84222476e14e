package dev.verbatim.shuffle.reader;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.verbatim.shuffle.reader.ReadBlockBuffer.Slice;
import dev.verbatim.transport.ReadBuffer;
import io.netty.buffer.ByteBuf;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

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

  @Test
  void shouldStayReadableForNettyWhenTheBlockIsReleased() {
    ReadBlockBuffer block = new ReadBlockBuffer(List.of(new Slice(buffer(), 0, 16)));

    ByteBuf netty = (ByteBuf) block.convertToNetty();
    block.release();

    assertEquals(16, netty.readableBytes());
    netty.release();
  }
}
