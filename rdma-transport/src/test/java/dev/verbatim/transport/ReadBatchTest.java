package dev.verbatim.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.verbatim.verbs.WcStatus;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a batch keeps and gives back, and who else is told when the end of one throws. */
class ReadBatchTest {
  /** As when memory is used up: to log it fails too. */
  private static final class Unspeakable extends Error {
    private static final long serialVersionUID = 1L;

    @Override
    public String getMessage() {
      throw new IllegalStateException("test");
    }
  }

  private static final class Throwing implements ReadListener {
    @Override
    public void onSuccess() {
      throw new Unspeakable();
    }

    @Override
    public void onFailure(ReadFailure failure) {
      throw new Unspeakable();
    }
  }

  private Fabric fabric;
  private PeerConnection connection;
  private ReadBuffer buffer;

  @BeforeEach
  void connect() throws Exception {
    fabric = new Fabric(new TransportConfig());
    connection = fabric.connected();
    buffer = fabric.pool.tryAcquire(100).orElseThrow();
  }

  /** Reads before, with and after a listener that throws; answers the other two. */
  private List<RecordingListener> readAroundAThrowingListener() {
    List<RecordingListener> others = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      ReadListener listener = new Throwing();
      if (i != 1) {
        others.add(new RecordingListener());
        listener = others.getLast();
      }
      connection.read(new ReadBatch(listener).add(7, 5, buffer, 0, 10));
    }
    return others;
  }

  /** A round of the poller's thread, which goes on whatever one throws. */
  private void round() throws Exception {
    try {
      fabric.poller.doWork();
    } catch (IllegalStateException e) {
      assertEquals("test", e.getMessage());
    }
  }

  @Test
  void shouldTellEachBatchOnceWhenTheErrorOfAListenerCannotBeLogged() throws Exception {
    List<RecordingListener> others = readAroundAThrowingListener();
    for (int i = 0; i < 3; i++) {
      fabric.complete(i, WcStatus.SUCCESS);
    }
    round();

    RecordingListener next = new RecordingListener();
    connection.read(new ReadBatch(next).add(7, 5, buffer, 0, 10));
    fabric.complete(3, WcStatus.SUCCESS);
    round();

    next.assertEnded("success");
    others.forEach(listener -> listener.assertEnded("success"));
  }

  @Test
  void shouldFailTheOtherBatchesOfAConnectionWhenTheErrorOfAListenerCannotBeLogged() {
    List<RecordingListener> others = readAroundAThrowingListener();
    connection.fail(new ReadFailure(ReadFailure.Kind.DISCONNECTED, "test"));

    connection.retired();

    others.forEach(listener -> listener.assertEnded("DISCONNECTED"));
  }

  @Test
  void shouldGiveBackTheOtherBuffersWhenOneWasReleasedTooOften() {
    ReadBatch batch = new ReadBatch(new RecordingListener());
    List<ReadBuffer> buffers = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      buffers.add(fabric.pool.tryAcquire(100).orElseThrow());
      batch.add(7, 5, buffers.get(i), 0, 10);
    }
    buffers.get(1).release(); // and the batch's reference, by mistake
    buffers.forEach(ReadBuffer::release);

    batch.clear();

    buffer.release();
    assertEquals(0, fabric.pool.usedBytes());
    assertEquals(0, batch.size());
  }

  @Test
  void shouldKeepRoomForABoundedNumberOfReads() throws Exception {
    RecordingListener listener = new RecordingListener();
    ReadBatch batch = new ReadBatch(listener);
    fill(batch, ReadBatch.MOST_KEPT);
    batch.clear();
    assertEquals(ReadBatch.MOST_KEPT, batch.room());

    fill(batch, ReadBatch.MOST_KEPT + 1);
    batch.clear();
    assertEquals(0, batch.room());

    connection.read(batch.add(8, 6, buffer, 20, 30));
    assertEquals(8, fabric.posted.getFirst().iova());
    fabric.complete(0, WcStatus.SUCCESS);
    fabric.poller.doWork();
    listener.assertEnded("success");
  }

  private void fill(ReadBatch batch, int reads) {
    for (int i = 0; i < reads; i++) {
      batch.add(i, 5, buffer, 0, 1);
    }
  }
}
