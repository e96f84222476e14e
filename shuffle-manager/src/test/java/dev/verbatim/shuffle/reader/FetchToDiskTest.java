package dev.verbatim.shuffle.reader;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.Mockito.doThrow;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import dev.verbatim.shuffle.fallback.FallbackReason;
import dev.verbatim.transport.ReadFailure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.spark.network.shuffle.DownloadFile;
import org.apache.spark.network.shuffle.DownloadFileManager;
import org.apache.spark.network.shuffle.SimpleDownloadFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Blocks that Spark wants in a file. */
class FetchToDiskTest extends BlockStoreClientFixture {
  @Test
  void shouldWriteToDiskWhenSparkGivesAFileManager(@TempDir Path folder) {
    int large = 9 << 20;
    byte[] data = output(10, 1 << 30, 33, large);
    DownloadFileManager files = files(folder, true);

    client.fetchBlocks("host", 1, "1", new String[] {"shuffle_3_10_1"}, listener, files);

    assertArrayEquals(part(data, 33, 33 + large), delivered.get("shuffle_3_10_1"));
    assertEquals(large, counters.snapshot().bytesByRdma());
    verify(files).registerTempFileToClean(any());
    assertEquals(1, folder.toFile().list().length);
  }

  @Test
  void shouldUseTcpWhenSparkAsksAgainForABlockThatCameToDisk(@TempDir Path folder) {
    output(10, 1 << 30, 33);
    DownloadFileManager files = files(folder, true);
    String[] ids = {"shuffle_3_10_0"};
    client.fetchBlocks("host", 1, "1", ids, listener, files);
    delivered.clear();

    client.fetchBlocks("host", 1, "1", ids, listener, files);

    assertOnlyFallback(FallbackReason.BLOCK_CORRUPT, ids);
  }

  @Test
  void shouldDeleteTheFileWhenSparkDoesNotKeepIt(@TempDir Path folder) {
    output(10, 1 << 30, 33);

    client.fetchBlocks(
        "host", 1, "1", new String[] {"shuffle_3_10_0"}, listener, files(folder, false));

    assertEquals(1, delivered.size());
    assertEquals(0, folder.toFile().list().length);
  }

  @Test
  void shouldUseTcpAndDeleteTheFileWhenAReadToDiskFails(@TempDir Path folder) {
    output(10, 1 << 30, 9 << 20);
    peer.failures =
        number -> number == 2 ? new ReadFailure(ReadFailure.Kind.DEADLINE, "10 s") : null;
    DownloadFileManager files = files(folder, true);

    client.fetchBlocks("host", 1, "1", new String[] {"shuffle_3_10_0"}, listener, files);

    assertOnlyFallback(FallbackReason.READ_FAILED, "shuffle_3_10_0");
    assertEquals(0, folder.toFile().list().length);
    verify(files, never()).registerTempFileToClean(any());
  }

  @Test
  void shouldReleaseTheBufferWhenNoBatchCanBeMade(@TempDir Path folder) {
    output(10, 1 << 30, 33, 44);
    fetch("shuffle_3_10_0");
    client = client(Runnable::run, Runnable::run); // another task: the index is kept by now
    peer.noBatches = true;

    client.fetchBlocks(
        "host", 1, "1", new String[] {"shuffle_3_10_1"}, listener, files(folder, true));

    assertOnlyFallback(FallbackReason.DOWNLOAD_FAILED, "shuffle_3_10_1");
    assertEquals(0, folder.toFile().list().length);
  }

  @Test
  void shouldUseTcpAndDeleteTheFileWhenAnErrorIsThrown() throws IOException {
    output(10, 1 << 30, 33);
    DownloadFile file = mock(DownloadFile.class);
    DownloadFileManager files = mock(DownloadFileManager.class);
    when(files.createTempFile(any())).thenReturn(file);
    when(file.openForWriting())
        .thenAnswer(
            call -> {
              throw new NoClassDefFoundError("gone");
            });

    client.fetchBlocks("host", 1, "1", new String[] {"shuffle_3_10_0"}, listener, files);

    assertOnlyFallback(FallbackReason.DOWNLOAD_FAILED, "shuffle_3_10_0");
    verify(file).delete();
  }

  @Test
  void shouldTellOfABlockInAFileAndKeepItForCleaningWhenCountingThrows(@TempDir Path folder) {
    byte[] data = output(10, 1 << 30, 33, 44);
    doThrow(new InternalError("test")).when(counters).blockByRdma(anyLong());
    DownloadFileManager files = files(folder, true);

    client.fetchBlocks(
        "host", 1, "1", new String[] {"shuffle_3_10_0", "shuffle_3_10_1"}, listener, files);

    assertArrayEquals(part(data, 0, 33), delivered.get("shuffle_3_10_0"));
    assertArrayEquals(STOCK, delivered.get("shuffle_3_10_1"));
    verify(files).registerTempFileToClean(any());
  }

  /** The thread that waits for the piece would wait for ever. */
  @Test
  void shouldUseTcpWhenABufferCannotBeGivenBackAfterAReadToDiskHasFailed(@TempDir Path folder) {
    output(10, 1 << 30, 33);
    peer.failures =
        number -> number == 1 ? new ReadFailure(ReadFailure.Kind.DEADLINE, "10 s") : null;
    peer.badReleases = nth -> nth == 2; // the first is of index entries

    client.fetchBlocks(
        "host", 1, "1", new String[] {"shuffle_3_10_0"}, listener, files(folder, true));

    assertOnlyFallback(FallbackReason.READ_FAILED, "shuffle_3_10_0");
  }

  private DownloadFileManager files(Path folder, boolean keep) {
    DownloadFileManager files = mock(DownloadFileManager.class);
    when(files.createTempFile(any()))
        .thenAnswer(
            call -> {
              DownloadFile file =
                  new SimpleDownloadFile(
                      Files.createTempFile(folder, "block", "").toFile(), call.getArgument(0));
              return file;
            });
    when(files.registerTempFileToClean(any())).thenReturn(keep);
    return files;
  }
}
