package dev.verbatim.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetSocketAddress;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class HandshakeTest {
  private static final byte[] TOKEN = {1, 2, 3};
  private static final long CHALLENGE = 77;

  private final Handshake initiator = new Handshake(TOKEN, "executor 1", 5);
  private final Handshake listener = new Handshake(TOKEN, "executor 2", CHALLENGE);

  private static PeerAddress address(String name, long challenge) {
    return new PeerAddress(name, new InetSocketAddress("10.77.0.2", 4001), challenge);
  }

  private static byte[] request(Handshake from, int index) {
    return from.request(address("executor 2", CHALLENGE), 16, index, 4);
  }

  private byte[] request() {
    return request(initiator, 1);
  }

  private static void assertRefused(Refusal reason, Handshake listener, byte[] request) {
    assertEquals(reason, listener.check(request).refusal());
  }

  @Test
  void shouldFitIntoPrivateDataOfRdmaCm() {
    assertTrue(request().length <= 56);
  }

  @Test
  void shouldAcceptRequestOfSameApplication() {
    Handshake.Checked checked = listener.check(request());
    assertNull(checked.refusal());
    assertEquals(16, checked.request().readDepth());
    assertEquals(1, checked.request().source().index());
  }

  @Test
  void shouldAcceptRequestWhenPaddedByTheTransport() {
    assertNull(listener.check(Arrays.copyOf(request(), 92)).refusal());
  }

  @Test
  void shouldRefuseRequestWhenAnyBitIsChanged() {
    byte[] good = request();
    for (int bit = 0; bit < good.length * 8; bit++) {
      byte[] bad = good.clone();
      bad[bit / 8] ^= (byte) (1 << bit % 8);
      assertNotNull(listener.check(bad).refusal(), "bit " + bit);
    }
    assertNull(listener.check(good).refusal());
  }

  @Test
  void shouldRefuseRequestWhenCutAnywhere() {
    byte[] good = request();
    for (int length = 0; length < good.length; length++) {
      assertRefused(Refusal.NOT_VERBATIM, listener, Arrays.copyOf(good, length));
    }
    assertNull(listener.check(good).refusal());
  }

  @Test
  void shouldSayWhyARequestIsRefused() {
    Handshake stranger = new Handshake(new byte[] {9}, "executor 1", 5);
    assertRefused(Refusal.APPLICATION, listener, request(stranger, 0));
    PeerAddress other = address("executor 3", CHALLENGE);
    assertRefused(Refusal.WRONG_PEER, listener, initiator.request(other, 16, 0, 1));
    assertRefused(Refusal.NOT_VERBATIM, listener, new byte[56]);
    byte[] otherVersion = request();
    otherVersion[4]++;
    assertRefused(Refusal.VERSION, listener, otherVersion);
    byte[] forged = request();
    forged[55]++;
    assertRefused(Refusal.PROOF, listener, forged);
    PeerAddress meant = address("executor 2", CHALLENGE);
    assertRefused(Refusal.NOT_VERBATIM, listener, initiator.request(meant, 0, 0, 1));
    assertRefused(Refusal.NOT_VERBATIM, listener, initiator.request(meant, 16, 1, 1));
  }

  @Test
  void shouldRefuseRequestWhenSeenBefore() {
    byte[] request = request();
    assertNull(listener.check(request).refusal());
    assertRefused(Refusal.REPLAY, listener, request);
  }

  /** However many requests came in between, and also one that was held back meanwhile. */
  @Test
  void shouldRefuseOldRequestsForEver() {
    byte[] seen = request();
    byte[] heldBack = request();
    assertNull(listener.check(seen).refusal());
    for (int i = 0; i < 100_000; i++) {
      assertNull(listener.check(request()).refusal());
    }
    assertRefused(Refusal.REPLAY, listener, seen);
    assertRefused(Refusal.REPLAY, listener, heldBack);
  }

  /** The requests of a connection's queue pairs may overtake each other. */
  @Test
  void shouldTakeTheRequestsOfSeveralQueuePairsInAnyOrder() {
    byte[][] requests = new byte[4][];
    for (int i = 0; i < requests.length; i++) {
      requests[i] = request(initiator, i);
    }
    for (int i = requests.length - 1; i >= 0; i--) {
      assertNull(listener.check(requests[i]).refusal());
    }
  }

  /** The same name and address, but another process: what was captured before is worthless. */
  @Test
  void shouldRefuseRequestOfBeforeWhenTheListenerIsANewProcess() {
    byte[] captured = request();
    Handshake successor = new Handshake(TOKEN, "executor 2", CHALLENGE + 1);
    assertRefused(Refusal.WRONG_PEER, successor, captured);
  }

  @Test
  void shouldAcceptAnInitiatorThatTookTheNameOfAnEarlierOne() throws Exception {
    assertNull(listener.check(request()).refusal());
    Thread.sleep(2);
    Handshake successor = new Handshake(TOKEN, "executor 1", 6);
    assertNull(listener.check(request(successor, 1)).refusal());
  }

  @Test
  void shouldNeverMakeTheSameRequestTwice() {
    assertFalse(Arrays.equals(request(), request()));
  }

  @Test
  void shouldTellDepthWhenAnswerIsProven() {
    byte[] request = request();
    byte[] answer = listener.accept(listener.check(request).request(), 9);
    assertEquals(9, initiator.checkAccept(answer, request));
    assertEquals(9, initiator.checkAccept(Arrays.copyOf(answer, 196), request));
  }

  @Test
  void shouldDistrustAnswerWhenOfAnotherRequestOrApplicationOrChanged() {
    byte[] request = request();
    byte[] answer = listener.accept(listener.check(request).request(), 9);
    assertEquals(0, initiator.checkAccept(answer, request()));
    Handshake stranger = new Handshake(new byte[] {9}, "executor 2", CHALLENGE);
    byte[] forged = stranger.accept(stranger.check(request(stranger, 1)).request(), 9);
    assertEquals(0, initiator.checkAccept(forged, request));
    assertEquals(0, initiator.checkAccept(new byte[0], request));
    for (int i = 0; i < Handshake.ACCEPT_BYTES; i++) {
      byte[] bad = answer.clone();
      bad[i] ^= 1;
      boolean spare = i == 6 || i == 7;
      assertEquals(spare ? 9 : 0, initiator.checkAccept(bad, request), "byte " + i);
    }
  }

  @ParameterizedTest
  @EnumSource
  void shouldCarryEveryRefusal(Refusal reason) {
    byte[] padded = Arrays.copyOf(Handshake.refuse(reason), 148);
    assertEquals(reason, Handshake.checkRefusal(padded));
  }

  @Test
  void shouldNotKnowTheReasonWhenAnotherStackRefused() {
    assertEquals(Refusal.UNKNOWN, Handshake.checkRefusal(new byte[0]));
    assertEquals(Refusal.UNKNOWN, Handshake.checkRefusal(new byte[148]));
  }
}
