package dev.verbatim.transport.measure;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.verbatim.transport.RemoteMemory;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class MeasureProtocolTest {
  @ParameterizedTest
  @EnumSource
  void shouldUnderstandWhatItHasWritten(MeasuredOperation operation) {
    byte[] request = MeasureProtocol.request(operation, MeasureConfig.MOST_BYTES);
    assertTrue(request.length <= 56);
    byte[] padded = Arrays.copyOf(request, 56); // as RDMA CM does
    assertEquals(
        Optional.of(new MeasureProtocol.Request(operation, MeasureConfig.MOST_BYTES)),
        MeasureProtocol.readRequest(padded));
    MeasureProtocol.Answer answer =
        new MeasureProtocol.Answer(1 << 16, new RemoteMemory(-7, 5, 100));
    assertEquals(
        Optional.of(answer),
        MeasureProtocol.readAnswer(Arrays.copyOf(MeasureProtocol.answer(answer), 196)));
  }

  /** Else neither side would ever send. */
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 64, 1 << 16})
  void shouldGiveCreditBeforeAllReceivesAreUsed(int receives) {
    long credit = new MeasureProtocol.Answer(receives, new RemoteMemory(0, 0, 0)).credit();
    assertTrue(credit >= 1 && credit <= receives, () -> "credit " + credit);
    assertTrue(2 * credit >= receives, "at most two are on their way");
  }

  @Test
  void shouldRefuseWhatOthersSend() {
    byte[] request = MeasureProtocol.request(MeasuredOperation.READ, 8);
    assertEquals(Optional.empty(), MeasureProtocol.readRequest(new byte[0]));
    assertEquals(Optional.empty(), MeasureProtocol.readRequest(new byte[56]));
    for (int length = 0; length < request.length; length++) {
      assertEquals(Optional.empty(), MeasureProtocol.readRequest(Arrays.copyOf(request, length)));
    }
    changed(request, 0, 1); // magic
    changed(request, 4, 1); // version
    changed(request, 5, 4); // operation
    changed(request, 5, -1);
    changed(request, 8, 0x80); // bytes
    changed(request, 11, 1);
    changed(request, 15, 0);
    assertEquals(Optional.empty(), MeasureProtocol.readAnswer(new byte[196]));
    RemoteMemory memory = new RemoteMemory(1, 2, 3);
    assertEquals(
        Optional.empty(),
        MeasureProtocol.readAnswer(MeasureProtocol.answer(new MeasureProtocol.Answer(0, memory))));
    byte[] answer = MeasureProtocol.answer(new MeasureProtocol.Answer(1, memory));
    answer[answer.length - Long.BYTES] = -1; // the highest byte of its length
    assertEquals(Optional.empty(), MeasureProtocol.readAnswer(answer));
  }

  private static void changed(byte[] request, int at, int value) {
    byte[] wrong = request.clone();
    wrong[at] = (byte) value;
    if (at == 11) {
      wrong[8] = 1; // far above the longest
    }
    assertEquals(Optional.empty(), MeasureProtocol.readRequest(wrong), "byte " + at);
  }

  @Test
  void shouldFindTheFirstWrongByte() {
    MemorySegment memory = MemorySegment.ofArray(new byte[10_000]);
    assertTrue(MeasureProtocol.firstWrong(memory) >= 0, "zeroes are not what is expected");
    MeasureProtocol.fill(memory);
    assertEquals(-1, MeasureProtocol.firstWrong(memory));
    memory.set(ValueLayout.JAVA_BYTE, 9999, (byte) (memory.get(ValueLayout.JAVA_BYTE, 9999) + 1));
    assertEquals(9999, MeasureProtocol.firstWrong(memory));
  }

  @Test
  void shouldCountBothWaysOfAPingPong() {
    Measurement one =
        new Measurement(MeasuredOperation.SEND, 500, 1, 1, 4000, 1_000_000, 1, 1, 1, 1, 1);
    assertEquals(2000, one.megabytesPerSecond());
    assertEquals(4e6, one.messagesPerSecond());
    Measurement both =
        new Measurement(MeasuredOperation.PING_PONG, 500, 1, 1, 4000, 1_000_000, 1, 1, 1, 1, 1);
    assertEquals(4000, both.megabytesPerSecond());
    assertEquals(8e6, both.messagesPerSecond());
  }

  @Test
  void shouldNameWhatIsOutOfRange() {
    assertRefused("bytes = 0", new MeasureConfig().bytes(0));
    assertRefused("bytes = 1073741825", new MeasureConfig().bytes((1L << 30) + 1));
    assertRefused("depth = 0", new MeasureConfig().depth(0));
    assertRefused("queuePairs = 0", new MeasureConfig().queuePairs(0));
    assertRefused("iterations = 0", new MeasureConfig().iterations(0));
    assertRefused("warmUp = -1", new MeasureConfig().warmUp(-1));
    assertRefused("duration = PT-1S", new MeasureConfig().duration(Duration.ofSeconds(-1)));
    assertRefused("patience = PT0S", new MeasureConfig().patience(Duration.ZERO));
  }

  private static void assertRefused(String part, MeasureConfig config) {
    String seen = assertThrows(IllegalArgumentException.class, config::conclude).getMessage();
    assertTrue(seen.contains(part), seen);
  }
}
