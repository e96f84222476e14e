package dev.verbatim.transport;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Writes and checks the private data of connection requests, so that only processes of the same
 * application, and only those that were meant, are connected. RDMA CM carries 56 bytes at most.
 *
 * <p>All integers are big-endian. A request is: magic (4), version, READ depth wanted, index of the
 * queue pair, number of queue pairs (1 each), application, identity of the process meant, hash of
 * the own name, sequence number (8 each), proof (16). The answer is: magic, version, READ depth
 * granted, 2 spare, proof (16). A refusal is: magic, version, reason.
 *
 * <p>A proof is an HMAC with the application's secret. What was captured opens nothing: the
 * identity contains the listener's challenge, which is new for each process, and a listener takes
 * only sequence numbers that are higher than all it has taken from that name and index. The
 * answer's proof covers the request's.
 */
final class Handshake {
  static final int REQUEST_BYTES = 56;
  static final int ACCEPT_BYTES = 24;
  static final int REFUSAL_BYTES = 6;

  static final int MAGIC = 0x5645_5242; // "VERB"
  static final byte VERSION = 2;

  private static final int PROOF_BYTES = 16;
  private static final int SIGNED_BYTES = REQUEST_BYTES - PROOF_BYTES;

  private final SecretKeySpec key;
  private final long application;
  private final long ownName;
  private final long ownIdentity;

  /** From the clock, so that a process that takes the name of an earlier one goes on above it. */
  private final AtomicLong sequence = new AtomicLong(System.currentTimeMillis() * 1000);

  /** The highest sequence numbers taken. Only who knows the secret gets an entry. */
  private final Map<Source, Long> taken = new HashMap<>();

  /**
   * @param applicationToken the application's secret
   * @param challenge of this process's listener, which peers learn with its address
   */
  Handshake(byte[] applicationToken, String ownName, long challenge) {
    // An empty token is allowed (it authenticates nobody), an empty HMAC key is not.
    byte[] prefix = "verbatim:".getBytes(StandardCharsets.US_ASCII);
    byte[] keyBytes = Arrays.copyOf(prefix, prefix.length + applicationToken.length);
    System.arraycopy(applicationToken, 0, keyBytes, prefix.length, applicationToken.length);
    this.key = new SecretKeySpec(keyBytes, "HmacSHA256");
    this.application =
        ByteBuffer.wrap(mac("application".getBytes(StandardCharsets.US_ASCII))).getLong();
    this.ownName = hash(ownName.getBytes(StandardCharsets.UTF_8));
    this.ownIdentity = identity(ownName, challenge);
  }

  /**
   * A queue pair of an initiator.
   *
   * @param name hash of the initiator's name
   * @param index of the queue pair among those of the connection
   */
  record Source(long name, int index) {}

  /**
   * What a request says.
   *
   * @param readDepth READs that the initiator wants outstanding, 1 to 255
   * @param proof of the request, to be covered by the answer's
   */
  record Request(Source source, int readDepth, ByteBuffer proof) {}

  /** A request that was checked: either it stands, or there is a reason to refuse it. */
  record Checked(Request request, Refusal refusal) {}

  /** A fresh request; no two are equal. */
  byte[] request(PeerAddress peer, int readDepth, int index, int count) {
    ByteBuffer out = ByteBuffer.allocate(REQUEST_BYTES);
    out.putInt(MAGIC).put(VERSION).put((byte) readDepth).put((byte) index).put((byte) count);
    out.putLong(application).putLong(identity(peer.name(), peer.challenge())).putLong(ownName);
    out.putLong(sequence.incrementAndGet());
    out.put(proof("request", Arrays.copyOf(out.array(), SIGNED_BYTES)));
    return out.array();
  }

  /** Checks the private data of an incoming request; it may be longer than what was sent. */
  Checked check(byte[] data) {
    if (data.length < REQUEST_BYTES) {
      return refused(Refusal.NOT_VERBATIM);
    }
    ByteBuffer in = ByteBuffer.wrap(data);
    if (in.getInt() != MAGIC) {
      return refused(Refusal.NOT_VERBATIM);
    }
    if (in.get() != VERSION) {
      return refused(Refusal.VERSION);
    }
    int depth = in.get() & 0xff;
    int index = in.get() & 0xff;
    int count = in.get() & 0xff;
    if (in.getLong() != application) {
      return refused(Refusal.APPLICATION);
    }
    byte[] proof = Arrays.copyOfRange(data, SIGNED_BYTES, REQUEST_BYTES);
    if (!MessageDigest.isEqual(proof, proof("request", Arrays.copyOf(data, SIGNED_BYTES)))) {
      return refused(Refusal.PROOF);
    }
    if (depth == 0 || index >= count) {
      return refused(Refusal.NOT_VERBATIM);
    }
    if (in.getLong() != ownIdentity) {
      return refused(Refusal.WRONG_PEER);
    }
    Source source = new Source(in.getLong(), index);
    if (!take(source, in.getLong())) {
      return refused(Refusal.REPLAY);
    }
    return new Checked(new Request(source, depth, ByteBuffer.wrap(proof)), null);
  }

  private static Checked refused(Refusal reason) {
    return new Checked(null, reason);
  }

  private boolean take(Source source, long number) {
    synchronized (taken) {
      Long highest = taken.get(source);
      if (highest != null && number <= highest) {
        return false;
      }
      taken.put(source, number);
      return true;
    }
  }

  byte[] accept(Request request, int readDepth) {
    ByteBuffer out = ByteBuffer.allocate(ACCEPT_BYTES);
    out.putInt(MAGIC).put(VERSION).put((byte) readDepth).putShort((short) 0);
    out.put(acceptProof(request.proof().array(), readDepth));
    return out.array();
  }

  /**
   * The READ depth that the peer granted, 1 to 255, or 0 when the answer does not prove that its
   * sender has checked this very request.
   */
  int checkAccept(byte[] data, byte[] request) {
    if (data.length < ACCEPT_BYTES) {
      return 0;
    }
    ByteBuffer in = ByteBuffer.wrap(data);
    if (in.getInt() != MAGIC || in.get() != VERSION) {
      return 0;
    }
    int depth = in.get() & 0xff;
    byte[] proof = Arrays.copyOfRange(data, ACCEPT_BYTES - PROOF_BYTES, ACCEPT_BYTES);
    byte[] asked = Arrays.copyOfRange(request, SIGNED_BYTES, REQUEST_BYTES);
    return MessageDigest.isEqual(proof, acceptProof(asked, depth)) ? depth : 0;
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

  private byte[] acceptProof(byte[] requestProof, int depth) {
    byte[] signed = Arrays.copyOf(requestProof, PROOF_BYTES + 1);
    signed[PROOF_BYTES] = (byte) depth;
    return proof("accept", signed);
  }

  private byte[] proof(String purpose, byte[] data) {
    byte[] label = purpose.getBytes(StandardCharsets.US_ASCII);
    byte[] message = Arrays.copyOf(label, label.length + data.length);
    System.arraycopy(data, 0, message, label.length, data.length);
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

  private static long identity(String name, long challenge) {
    byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
    return hash(
        ByteBuffer.allocate(Long.BYTES + bytes.length).putLong(challenge).put(bytes).array());
  }

  private static long hash(byte[] bytes) {
    try {
      return ByteBuffer.wrap(MessageDigest.getInstance("SHA-256").digest(bytes)).getLong();
    } catch (GeneralSecurityException e) {
      throw new AssertionError("every JDK has SHA-256", e);
    }
  }
}
