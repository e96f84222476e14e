package dev.verbatim.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.verbatim.verbs.CmEventType;
import dev.verbatim.verbs.RdmaCmEvent;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;

/** Private data of any content, as a request, as its answer, as a refusal. */
class PrivateDataFuzzTest {
  private static final int MOST_BYTES = 255;
  private static final byte[] TOKEN = {1, 2, 3};
  private static final PeerAddress ADDRESS =
      new PeerAddress("executor 2", new InetSocketAddress("10.77.0.2", 4001), 77);

  private final Handshake initiator = new Handshake(TOKEN, "executor 1", 5);
  private final Handshake listener = new Handshake(TOKEN, "executor 2", ADDRESS.challenge());
  private final byte[] own = initiator.request(ADDRESS, 16, 0, 1);

  static Stream<byte[]> seeds() {
    Handshake from = new Handshake(TOKEN, "executor 1", 5);
    Handshake to = new Handshake(TOKEN, "executor 2", ADDRESS.challenge());
    byte[] request = from.request(ADDRESS, 16, 3, 4);
    byte[] answer = to.accept(to.check(request).request(), 16);
    return Stream.of(request, answer, Handshake.refuse(Refusal.BUDGET));
  }

  /** Nothing throws, and nothing is trusted that does not carry a proof made with the token. */
  @MethodSource("seeds")
  @FuzzTest
  void shouldTrustNothing(byte[] data) {
    byte[] sent = Arrays.copyOf(data, Math.min(data.length, MOST_BYTES));
    byte[] arrived = arrive(CmEventType.CONNECT_REQUEST, sent);
    assertEquals(sent.length, arrived.length);

    Handshake.Checked checked = listener.check(arrived);
    if (checked.request() != null) {
      // A seed: made with the token. Nobody can change it, and it opens nothing twice.
      assertEquals(Refusal.REPLAY, listener.check(arrived).refusal());
      for (int i = 0; i < Handshake.REQUEST_BYTES; i++) {
        byte[] bad = arrived.clone();
        bad[i]++;
        assertNotNull(listener.check(bad).refusal());
      }
    } else {
      assertNotNull(checked.refusal());
      assertNull(checked.request());
    }
    assertEquals(0, initiator.checkAccept(arrive(CmEventType.ESTABLISHED, sent), own));
    assertNotNull(Handshake.checkRefusal(arrive(CmEventType.REJECTED, sent)));
    if (sent.length > 3) {
      signed(sent[0], sent[1], sent[2], sent[3]);
    }
  }

  /** Behind the proof: what a process with the token may say. */
  private void signed(byte depth, byte index, byte count, byte challenge) {
    PeerAddress meant = new PeerAddress(ADDRESS.name(), ADDRESS.address(), challenge);
    byte[] request = initiator.request(meant, depth, index, count);
    Handshake.Checked checked = listener.check(request);
    if (depth == 0 || (index & 0xff) >= (count & 0xff)) {
      assertEquals(Refusal.NOT_VERBATIM, checked.refusal());
    } else if (challenge != ADDRESS.challenge()) {
      assertEquals(Refusal.WRONG_PEER, checked.refusal());
    } else {
      assertEquals(depth & 0xff, checked.request().readDepth());
      byte[] answer = listener.accept(checked.request(), depth);
      assertEquals(depth & 0xff, initiator.checkAccept(answer, request));
      assertEquals(0, initiator.checkAccept(answer, own));
    }
  }

  /** The way of private data out of the library's memory. */
  private static byte[] arrive(CmEventType type, byte[] data) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment event = RdmaCmEvent.STRUCT.allocate(arena);
      RdmaCmEvent.EVENT.set(event, type.number());
      MemorySegment copy = arena.allocate(Math.max(1, data.length));
      MemorySegment.copy(MemorySegment.ofArray(data), 0, copy, 0, data.length);
      RdmaCmEvent.PRIVATE_DATA.set(event, copy);
      RdmaCmEvent.PRIVATE_DATA_LEN.set(event, (byte) data.length);
      return CmEvent.of(event).privateData();
    }
  }
}
