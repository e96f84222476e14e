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
      fetch.fallback(blocks, FallbackReason.DOWNLOAD_FAILED, e);
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
    try {
      fetch.deliverFile(block, data);
    } finally { // what is thrown leaves no file behind
      if (!files.registerTempFileToClean(file)) {
        file.delete();
      }
    }
  }

  private void copy(ShuffleBlock block, DownloadFileWritableChannel channel)
      throws IOException, ReadException {
    Piece next = read(block, 0);
    for (long done = 0; done < block.length; done += PieceBatches.PIECE_BYTES) {
      ReadBuffer piece = next.await();
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
          next.giveUp();
        }
        throw e;
      } finally {
        ReadBlockBuffer.release(piece);
      }
    }
  }

  private Piece read(ShuffleBlock block, long done) throws ReadException {
    int length = (int) Math.min(PieceBatches.PIECE_BYTES, block.length - done);
    Optional<ReadBuffer> acquired = context.transport().tryAcquire(length);
    if (acquired.isEmpty()) {
      throw new ReadException(null);
    }
    ReadBuffer buffer = acquired.get();
    try {
      return read(block, block.offset + done, buffer);
    } catch (RuntimeException | Error e) {
      ReadBlockBuffer.release(buffer);
      throw e;
    }
  }

  private Piece read(ShuffleBlock block, long position, ReadBuffer buffer) {
    Piece piece = new Piece(buffer);
    ReadPlan plan = new ReadPlan(context.batches().take(piece));
    try {
      plan.add(block.output, position, buffer.length(), buffer, 0);
      connection.read(plan.batch());
    } catch (RuntimeException | Error e) {
      plan.clear();
      throw e;
    }
    return piece;
  }

  /**
   * A piece on its way. Its end takes no memory, and throws nothing: the thread that waits for it
   * would wait for ever.
   */
  private static final class Piece implements ReadListener {
    private final ReadBuffer buffer;
    private final CompletableFuture<Void> end = new CompletableFuture<>();
    private volatile ReadFailure failure;

    Piece(ReadBuffer buffer) {
      this.buffer = buffer;
    }

    @Override
    public void onSuccess() {
      end.complete(null);
    }

    @Override
    public void onFailure(ReadFailure cause) {
      failure = cause;
      end.complete(null);
    }

    /**
     * Waits without a limit of its own: every batch has a deadline.
     *
     * @return the buffer, to be released
     */
    ReadBuffer await() throws ReadException {
      end.join();
      if (failure != null) {
        ReadBlockBuffer.release(buffer);
        throw new ReadException(failure);
      }
      return buffer;
    }

    /** Releases the buffer as soon as the device is done with it. */
    void giveUp() {
      end.join();
      ReadBlockBuffer.release(buffer);
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
