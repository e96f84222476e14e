package dev.verbatim.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class HandshakeTest {
  private static final byte[] TOKEN = {1, 2, 3};

  private final Handshake initiator = new Handshake(TOKEN, "executor 1");
  private final Handshake listener = new Handshake(TOKEN, "executor 2");

  private byte[] request(long nonce) {
    return initiator.request("executor 2", 16, 1, 4, nonce);
  }

  @Test
  void shouldFitIntoPrivateDataOfRdmaCm() {
    assertTrue(request(7).length <= 56);
  }

  @Test
  void shouldAcceptRequestOfSameApplication() {
    Handshake.Checked checked = listener.check(request(7));
    assertNull(checked.refusal());
    assertEquals(16, checked.request().readDepth());
    assertEquals(1, checked.request().index());
    assertEquals(4, checked.request().count());
    assertEquals(7, checked.request().nonce());
  }

  @Test
  void shouldAcceptRequestWhenPaddedByTheTransport() {
    assertNull(listener.check(Arrays.copyOf(request(7), 92)).refusal());
  }

  @Test
  void shouldRefuseRequestWhenAnyByteIsChanged() {
    byte[] good = request(7);
    for (int i = 0; i < good.length; i++) {
      byte[] bad = good.clone();
      bad[i] ^= 1;
      assertNotEquals(null, listener.check(bad).refusal(), "byte " + i);
    }
    assertNull(listener.check(good).refusal());
  }

  @Test
  void shouldSayWhyARequestIsRefused() {
    Handshake stranger = new Handshake(new byte[] {9}, "executor 1");
    assertEquals(
        Refusal.APPLICATION, listener.check(stranger.request("executor 2", 16, 0, 1, 1)).refusal());
    assertEquals(
        Refusal.WRONG_PEER, listener.check(initiator.request("executor 3", 16, 0, 1, 2)).refusal());
    assertEquals(Refusal.NOT_VERBATIM, listener.check(new byte[10]).refusal());
    assertEquals(Refusal.NOT_VERBATIM, listener.check(new byte[56]).refusal());
    byte[] otherVersion = request(3);
    otherVersion[4]++;
    assertEquals(Refusal.VERSION, listener.check(otherVersion).refusal());
    byte[] forged = request(4);
    forged[55]++;
    assertEquals(Refusal.PROOF, listener.check(forged).refusal());
  }

  @Test
  void shouldRefuseRequestWhenSeenBefore() {
    byte[] request = request(7);
    assertNull(listener.check(request).refusal());
    assertEquals(Refusal.REPLAY, listener.check(request).refusal());
  }

  @Test
  void shouldTellDepthWhenAnswerIsProven() {
    assertEquals(9, initiator.checkAccept(listener.accept(7, 9), 7, "executor 2"));
  }

  @Test
  void shouldDistrustAnswerWhenOfAnotherRequestProcessOrApplication() {
    assertEquals(0, initiator.checkAccept(listener.accept(7, 9), 8, "executor 2"));
    assertEquals(0, initiator.checkAccept(listener.accept(7, 9), 7, "executor 3"));
    Handshake stranger = new Handshake(new byte[] {9}, "executor 2");
    assertEquals(0, initiator.checkAccept(stranger.accept(7, 9), 7, "executor 2"));
    assertEquals(0, initiator.checkAccept(new byte[0], 7, "executor 2"));
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
