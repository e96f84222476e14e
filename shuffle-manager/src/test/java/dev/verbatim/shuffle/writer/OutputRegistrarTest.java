package dev.verbatim.shuffle.writer;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import dev.verbatim.shuffle.fallback.FallbackReason;
import dev.verbatim.shuffle.reader.MapOutputLocation.Registered;
import dev.verbatim.transport.FilePinMode;
import dev.verbatim.transport.MemoryRegion;
import java.nio.file.Files;
import java.util.List;
import org.junit.jupiter.api.Test;

class OutputRegistrarTest extends OutputRegistrarFixture {
  @Test
  void shouldCopyDataAndIndexIntoOneSlabWhenTheOutputIsSmall() throws Exception {
    byte[] data = random(1001);
    MapOutputFiles files = files(10, data, 0, 1, 1001);

    submit(registrar(), files);

    Registered output = assertInstanceOf(Registered.class, published.getFirst());
    assertArrayEquals(data, at(output.regions().getFirst(), 1001));
    assertArrayEquals(Files.readAllBytes(files.index()), at(output.index(), 24));
    assertEquals(0, output.index().iova() % 8);
    assertEquals(1001, output.dataLength());
    assertEquals(1, slabs.size());
    assertEquals(1, counters.snapshot().outputsRegistered());
  }

  @Test
  void shouldRegisterTheFileInPlaceWhenItIsLarge() throws Exception {
    byte[] data = random((int) MIB + 1);
    MapOutputFiles files = files(10, data, 0, data.length);
    MemoryRegion one = region(MIB);
    MemoryRegion two = region(1);
    when(transport.registerFile(files.data(), data.length, FilePinMode.READ_ONLY_MAPPING))
        .thenReturn(List.of(one, two));

    submit(registrar(), files);

    Registered output = assertInstanceOf(Registered.class, published.getFirst());
    assertEquals(2, output.regions().size());
    assertEquals(MIB, output.regionLength());
    assertEquals(3, counters.snapshot().regions(), "two of the data and the slab of the index");
  }

  @Test
  void shouldCopyALargeFileWhenTheFolderCannotBePinned() throws Exception {
    mode = FilePinMode.COPY;
    byte[] data = random((int) MIB + 1);

    submit(registrar(), files(10, data, 0, data.length));

    Registered output = assertInstanceOf(Registered.class, published.getFirst());
    assertArrayEquals(data, at(output.regions().getFirst(), data.length));
    verify(transport, never()).registerFile(any(), anyLong(), any());
  }

  @Test
  void shouldDeclineWhenAnErrorIsThrown() throws Exception {
    when(transport.allocate(anyLong())).thenThrow(new NoClassDefFoundError("gone"));

    submit(registrar(), files(10, random(100), 0, 100));

    assertEquals(FallbackReason.DEVICE_ERROR, declined());
    assertEquals(0, budget.used());
  }

  @Test
  void shouldDeclineWhenIndexAndDataDoNotMatch() throws Exception {
    submit(registrar(), files(10, random(100), 0, 99));

    assertEquals(FallbackReason.FILE_UNREADABLE, declined());
  }

  @Test
  void shouldDeclineWhenTheDataIsNotInALocalFile() throws Exception {
    MapOutputFiles files = files(10, random(100), 0, 100);
    Files.delete(files.data());

    submit(registrar(), files);

    assertEquals(FallbackReason.FILE_UNREADABLE, declined());
  }

  @Test
  void shouldDeclineWhenTheQueueIsFull() throws Exception {
    threads.full = true;

    submit(registrar(), files(10, random(100), 0, 100));

    assertEquals(FallbackReason.REGISTRATION_BACKLOG, declined());
  }

  @Test
  void shouldPublishNothingWhenTheOutputIsEmpty() throws Exception {
    submit(registrar(), files(10, new byte[0], 0, 0, 0));

    assertTrue(published.isEmpty());
    verify(transport, never()).allocate(anyLong());
  }

  @Test
  void shouldDeclineWhenNoThreadCanBeMade() throws Exception {
    threads.outOfMemory = true;

    submit(registrar(), files(10, random(100), 0, 100));

    assertEquals(FallbackReason.REGISTRATION_BACKLOG, declined());
  }
}
