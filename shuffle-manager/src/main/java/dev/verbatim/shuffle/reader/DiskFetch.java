package dev.verbatim.shuffle.reader;

import dev.verbatim.shuffle.fallback.FallbackReason;
import dev.verbatim.transport.PeerConnection;
import dev.verbatim.transport.ReadBuffer;
import dev.verbatim.transport.ReadFailure;
import dev.verbatim.transport.ReadListener;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.DownloadFile;
import org.apache.spark.network.shuffle.DownloadFileManager;
import org.apache.spark.network.shuffle.DownloadFileWritableChannel;

/**
 * READs blocks that are too large for memory piece by piece into temporary files: while one piece
 * is written the next one is on its way. Runs on a thread that may block.
 */
final class DiskFetch {
  private final RdmaFetch fetch;
  private final FetchAttempt attempt;
  private final FetchContext context;
  private final DownloadFileManager files;
  private final PeerConnection connection;
  private final List<ShuffleBlock> blocks;

  DiskFetch(FetchAttempt attempt, PeerConnection connection, List<ShuffleBlock> blocks) {
    this.fetch = attempt.fetch();
    this.attempt = attempt;
    this.context = attempt.context();
    this.files = fetch.files();
    this.connection = connection;
    this.blocks = blocks;
  }

  /** Ends when all blocks are delivered, or others go on with the rest. */
  void run() {
    try {
      for (ShuffleBlock block : blocks) {
        try {
          download(block);
        } catch (ReadException e) {
          if (e.failure == null) {
            fetch.fallback(blocks, FallbackReason.POOL_EXHAUSTED, "for data");
          } else {
            attempt.leaveGuilty(e.failure, List.of(block));
            attempt.retry(e.failure, blocks);
          }
          return;
        }
      }
    } catch (Throwable e) {
      fetch.fallback(blocks, FallbackReason.DOWNLOAD_FAILED, e.toString());
    }
  }

  private void download(ShuffleBlock block) throws IOException, ReadException {
    DownloadFile file = files.createTempFile(context.downloadConf());
    ManagedBuffer data;
    try (DownloadFileWritableChannel channel = file.openForWriting()) {
      copy(block, channel);
      data = channel.closeAndRead();
    } catch (Throwable e) {
      file.delete();
      throw e;
    }
    fetch.deliverFile(block, data);
    if (!files.registerTempFileToClean(file)) {
      file.delete();
    }
  }

  private void copy(ShuffleBlock block, DownloadFileWritableChannel channel)
      throws IOException, ReadException {
    CompletableFuture<ReadBuffer> next = read(block, 0);
    for (long done = 0; done < block.length; done += PieceBatches.PIECE_BYTES) {
      ReadBuffer piece = await(next);
      next = null;
      try {
        long following = done + PieceBatches.PIECE_BYTES;
        next = following < block.length ? read(block, following) : null;
        ByteBuffer bytes = piece.asByteBuffer(0, (int) piece.length());
        while (bytes.hasRemaining()) {
          channel.write(bytes);
        }
      } catch (Throwable e) {
        if (next != null) {
          next.thenAccept(ReadBuffer::release);
        }
        throw e;
      } finally {
        piece.release();
      }
    }
  }

  private CompletableFuture<ReadBuffer> read(ShuffleBlock block, long done) {
    int length = (int) Math.min(PieceBatches.PIECE_BYTES, block.length - done);
    Optional<ReadBuffer> acquired = context.transport().tryAcquire(length);
    if (acquired.isEmpty()) {
      return CompletableFuture.failedFuture(new ReadException(null));
    }
    ReadBuffer buffer = acquired.get();
    try {
      return read(block, block.offset + done, buffer);
    } catch (RuntimeException | Error e) {
      buffer.release();
      throw e;
    }
  }

  private CompletableFuture<ReadBuffer> read(ShuffleBlock block, long position, ReadBuffer buffer) {
    CompletableFuture<ReadBuffer> end = new CompletableFuture<>();
    ReadListener listener =
        new ReadListener() {
          @Override
          public void onSuccess() {
            end.complete(buffer);
          }

          @Override
          public void onFailure(ReadFailure cause) {
            buffer.release();
            end.completeExceptionally(new ReadException(cause));
          }
        };
    ReadPlan plan = new ReadPlan(context.batches().take(listener));
    try {
      plan.add(block.output, position, buffer.length(), buffer, 0);
      connection.read(plan.batch());
    } catch (RuntimeException | Error e) {
      plan.clear();
      throw e;
    }
    return end;
  }

  /** Waits without a limit of its own: every batch has a deadline. */
  private static ReadBuffer await(CompletableFuture<ReadBuffer> piece) throws ReadException {
    try {
      return piece.join();
    } catch (CompletionException e) {
      if (e.getCause() instanceof ReadException cause) {
        throw cause;
      }
      throw e;
    }
  }

  private static final class ReadException extends Exception {
    private static final long serialVersionUID = 1L;

    private final transient ReadFailure failure;

    /**
     * @param failure null when no buffer was free
     */
    ReadException(ReadFailure failure) {
      this.failure = failure;
    }
  }
}
