package dev.verbatim.transport.measure;

import dev.verbatim.transport.RemoteMemory;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.Optional;

/**
 * What the two sides tell each other while they connect, big-endian. The request: magic (4),
 * version, operation (1 each), 2 spare, bytes of a message (8). The answer: magic, version,
 * receives that the server keeps posted (3), memory of the server. And the bytes that are in
 * messages.
 *
 * <p>Of {@link MeasuredOperation#SEND} no more messages are on their way than receives are posted,
 * since iWARP does not repeat a message that finds none: the server tells by an empty message when
 * another half of its receives is free again.
 */
final class MeasureProtocol {
  /** Empty messages of the server that may be on their way at a time. */
  static final int CREDITS = 2;

  private static final int MAGIC = 0x5645_524d; // "VERM"
  private static final byte VERSION = 2;
  private static final int REQUEST_BYTES = 16;
  private static final int ANSWER_BYTES = 8 + RemoteMemory.BYTES;

  private MeasureProtocol() {}

  record Request(MeasuredOperation operation, long bytes) {}

  /**
   * @param receives that the server keeps posted, at least 1
   */
  record Answer(int receives, RemoteMemory memory) {

    /** Messages for which the server sends an empty one. */
    long credit() {
      return (receives + 1L) / 2;
    }
  }

  static byte[] request(MeasuredOperation operation, long bytes) {
    return ByteBuffer.allocate(REQUEST_BYTES)
        .putInt(MAGIC)
        .put(VERSION)
        .put((byte) operation.ordinal())
        .putShort((short) 0)
        .putLong(bytes)
        .array();
  }

  /** Empty for what is no request of this version. */
  static Optional<Request> readRequest(byte[] data) {
    if (!isOurs(data, REQUEST_BYTES)) {
      return Optional.empty();
    }
    int operation = data[5];
    long bytes = ByteBuffer.wrap(data).getLong(8);
    boolean valid =
        operation >= 0
            && operation < MeasuredOperation.values().length
            && bytes >= 1
            && bytes <= MeasureConfig.MOST_BYTES;
    return valid
        ? Optional.of(new Request(MeasuredOperation.values()[operation], bytes))
        : Optional.empty();
  }

  static byte[] answer(Answer answer) {
    ByteBuffer out = ByteBuffer.allocate(ANSWER_BYTES).putInt(MAGIC);
    out.putInt(VERSION << 24 | answer.receives());
    return answer.memory().put(out).array();
  }

  /** Empty for what is no answer of this version. */
  static Optional<Answer> readAnswer(byte[] data) {
    if (!isOurs(data, ANSWER_BYTES) || ByteBuffer.wrap(data).getLong(ANSWER_BYTES - 8) < 0) {
      return Optional.empty();
    }
    int receives = ByteBuffer.wrap(data).getInt(4) & 0xff_ffff;
    return receives > 0
        ? Optional.of(new Answer(receives, RemoteMemory.get(ByteBuffer.wrap(data).position(8))))
        : Optional.empty();
  }

  private static boolean isOurs(byte[] data, int least) {
    return data.length >= least && ByteBuffer.wrap(data).getInt() == MAGIC && data[4] == VERSION;
  }

  /** Fills memory with what both sides expect. */
  static void fill(MemorySegment memory) {
    for (long i = 0; i < memory.byteSize(); i++) {
      memory.set(ValueLayout.JAVA_BYTE, i, expected(i));
    }
  }

  /** The first byte that is not as filled, or -1. */
  static long firstWrong(MemorySegment memory) {
    for (long i = 0; i < memory.byteSize(); i++) {
      if (memory.get(ValueLayout.JAVA_BYTE, i) != expected(i)) {
        return i;
      }
    }
    return -1;
  }

  private static byte expected(long index) {
    return (byte) (index * 31 + (index >> 9) + 1);
  }
}
