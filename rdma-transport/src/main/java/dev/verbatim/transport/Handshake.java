package dev.verbatim.transport;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Writes and checks the private data of connection requests, so that only processes of the same
 * application, and only those that were meant, are connected. RDMA CM carries 56 bytes at most.
 *
 * <p>All integers are big-endian. A request is: magic (4), version, READ depth wanted, index of the
 * queue pair, number of queue pairs (1 each), application, name of the process meant, own name
 * (hashes, 8 each), nonce (8), proof (16). The answer is: magic, version, READ depth granted, 2
 * spare, proof (16). A refusal is: magic, version, reason.
 */
final class Handshake {
  static final int REQUEST_BYTES = 56;
  static final int ACCEPT_BYTES = 24;
  static final int REFUSAL_BYTES = 6;

  static final int MAGIC = 0x5645_5242; // "VERB"
  static final byte VERSION = 1;

  private static final int PROOF_BYTES = 16;
  private static final int SIGNED_BYTES = REQUEST_BYTES - PROOF_BYTES;
  private static final int NONCES_KEPT = 1 << 16;

  private final SecretKeySpec key;
  private final long application;
  private final long ownName;
  private final Map<Long, Boolean> seenNonces =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Long, Boolean> eldest) {
          return size() > NONCES_KEPT;
        }
      };

  Handshake(byte[] applicationToken, String ownName) {
    // An empty token is allowed (it authenticates nobody), an empty HMAC key is not.
    byte[] prefix = "verbatim:".getBytes(StandardCharsets.US_ASCII);
    byte[] keyBytes = Arrays.copyOf(prefix, prefix.length + applicationToken.length);
    System.arraycopy(applicationToken, 0, keyBytes, prefix.length, applicationToken.length);
    this.key = new SecretKeySpec(keyBytes, "HmacSHA256");
    this.application =
        ByteBuffer.wrap(mac("application".getBytes(StandardCharsets.US_ASCII))).getLong();
    this.ownName = nameHash(ownName);
  }

  /**
   * What a request says.
   *
   * @param readDepth READs that the initiator wants outstanding, 1 to 255
   * @param index of the queue pair among those of the connection
   * @param count of the queue pairs of the connection
   * @param source hash of the initiator's name
   * @param nonce to be proven in the answer
   */
  record Request(int readDepth, int index, int count, long source, long nonce) {}

  /** A request that was checked: either it stands, or there is a reason to refuse it. */
  record Checked(Request request, Refusal refusal) {}

  byte[] request(String peerName, int readDepth, int index, int count, long nonce) {
    ByteBuffer out = ByteBuffer.allocate(REQUEST_BYTES);
    out.putInt(MAGIC).put(VERSION).put((byte) readDepth).put((byte) index).put((byte) count);
    out.putLong(application).putLong(nameHash(peerName)).putLong(ownName).putLong(nonce);
    out.put(proof("request", out.array(), SIGNED_BYTES));
    return out.array();
  }

  /** Checks the private data of an incoming request; it may be longer than what was sent. */
  Checked check(byte[] data) {
    if (data.length < REQUEST_BYTES) {
      return new Checked(null, Refusal.NOT_VERBATIM);
    }
    ByteBuffer in = ByteBuffer.wrap(data);
    if (in.getInt() != MAGIC) {
      return new Checked(null, Refusal.NOT_VERBATIM);
    }
    if (in.get() != VERSION) {
      return new Checked(null, Refusal.VERSION);
    }
    int depth = in.get() & 0xff;
    int index = in.get() & 0xff;
    int count = in.get() & 0xff;
    long hisApplication = in.getLong();
    long meant = in.getLong();
    long source = in.getLong();
    long nonce = in.getLong();
    if (hisApplication != application) {
      return new Checked(null, Refusal.APPLICATION);
    }
    byte[] proof = Arrays.copyOfRange(data, SIGNED_BYTES, REQUEST_BYTES);
    if (!MessageDigest.isEqual(proof, proof("request", data, SIGNED_BYTES))) {
      return new Checked(null, Refusal.PROOF);
    }
    if (meant != ownName) {
      return new Checked(null, Refusal.WRONG_PEER);
    }
    synchronized (seenNonces) {
      if (seenNonces.put(nonce, Boolean.TRUE) != null) {
        return new Checked(null, Refusal.REPLAY);
      }
    }
    if (depth == 0 || index >= count) {
      return new Checked(null, Refusal.NOT_VERBATIM);
    }
    return new Checked(new Request(depth, index, count, source, nonce), null);
  }

  byte[] accept(long nonce, int readDepth) {
    ByteBuffer out = ByteBuffer.allocate(ACCEPT_BYTES);
    out.putInt(MAGIC).put(VERSION).put((byte) readDepth).putShort((short) 0);
    out.put(acceptProof(nonce, ownName, readDepth));
    return out.array();
  }

  /**
   * The READ depth that the peer granted, 1 to 255, or 0 when the answer does not prove that it
   * comes from the process of that name.
   */
  int checkAccept(byte[] data, long nonce, String peerName) {
    if (data.length < ACCEPT_BYTES) {
      return 0;
    }
    ByteBuffer in = ByteBuffer.wrap(data);
    if (in.getInt() != MAGIC || in.get() != VERSION) {
      return 0;
    }
    int depth = in.get() & 0xff;
    byte[] proof = Arrays.copyOfRange(data, ACCEPT_BYTES - PROOF_BYTES, ACCEPT_BYTES);
    boolean proven = MessageDigest.isEqual(proof, acceptProof(nonce, nameHash(peerName), depth));
    return proven ? depth : 0;
  }

  static byte[] refuse(Refusal reason) {
    return ByteBuffer.allocate(REFUSAL_BYTES).putInt(MAGIC).put(VERSION).put(reason.code()).array();
  }

  static Refusal checkRefusal(byte[] data) {
    if (data.length < REFUSAL_BYTES) {
      return Refusal.UNKNOWN;
    }
    ByteBuffer in = ByteBuffer.wrap(data);
    if (in.getInt() != MAGIC) {
      return Refusal.UNKNOWN;
    }
    in.get();
    return Refusal.of(in.get());
  }

  private byte[] acceptProof(long nonce, long name, int depth) {
    ByteBuffer signed = ByteBuffer.allocate(17).putLong(nonce).putLong(name).put((byte) depth);
    return proof("accept", signed.array(), signed.capacity());
  }

  private byte[] proof(String purpose, byte[] data, int length) {
    byte[] label = purpose.getBytes(StandardCharsets.US_ASCII);
    byte[] message = Arrays.copyOf(label, label.length + length);
    System.arraycopy(data, 0, message, label.length, length);
    return Arrays.copyOf(mac(message), PROOF_BYTES);
  }

  private byte[] mac(byte[] message) {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(key);
      return mac.doFinal(message);
    } catch (GeneralSecurityException e) {
      throw new AssertionError("every JDK has HmacSHA256", e);
    }
  }

  private static long nameHash(String name) {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      return ByteBuffer.wrap(digest.digest(name.getBytes(StandardCharsets.UTF_8))).getLong();
    } catch (GeneralSecurityException e) {
      throw new AssertionError("every JDK has SHA-256", e);
    }
  }
}
