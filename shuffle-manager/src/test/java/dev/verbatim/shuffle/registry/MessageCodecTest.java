package dev.verbatim.shuffle.registry;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.esotericsoftware.kryo.io.Output;
import com.sun.management.ThreadMXBean;
import dev.verbatim.shuffle.fallback.FallbackReason;
import dev.verbatim.shuffle.metrics.CounterSnapshot;
import dev.verbatim.shuffle.reader.MapOutputLocation;
import dev.verbatim.shuffle.reader.MapOutputLocation.Declined;
import dev.verbatim.shuffle.reader.MapOutputLocation.Registered;
import dev.verbatim.shuffle.reader.MapOutputLocation.RemoteAddress;
import dev.verbatim.shuffle.reader.PeerState;
import dev.verbatim.shuffle.registry.Message.Announce;
import dev.verbatim.shuffle.registry.Message.Await;
import dev.verbatim.shuffle.registry.Message.Hello;
import dev.verbatim.shuffle.registry.Message.Publish;
import dev.verbatim.shuffle.registry.Message.Report;
import dev.verbatim.shuffle.registry.Message.Shared;
import dev.verbatim.shuffle.registry.Message.Sync;
import dev.verbatim.shuffle.registry.Message.Table;
import dev.verbatim.shuffle.registry.Message.Taken;
import dev.verbatim.shuffle.registry.Message.Welcome;
import dev.verbatim.transport.LatencyCounts;
import dev.verbatim.transport.PeerAddress;
import dev.verbatim.transport.TransportCounters;
import java.lang.management.ManagementFactory;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class MessageCodecTest {
  private static final Registered LARGE =
      new Registered(
          Long.MAX_VALUE,
          "12",
          List.of(new RemoteAddress(-1, -2), new RemoteAddress(0x7fff_0000_1234L, 3)),
          1L << 31,
          (1L << 31) + 5,
          new RemoteAddress(Long.MIN_VALUE, Integer.MIN_VALUE));
  private static final Registered OF_ONE_REGION =
      new Registered(1, "12", List.of(new RemoteAddress(-1, -2)), 5, 5, new RemoteAddress(-3, -4));
  private static final Registered SHORTER_THAN_ITS_REGION =
      new Registered(1, "12", List.of(new RemoteAddress(-1, -2)), 6, 5, new RemoteAddress(-3, -4));

  /** Forward, backward, across the ends of the address space, after other kinds. */
  private static final List<MapOutputLocation> INDEXES_OF_FEW_REGIONS =
      List.of(
          withIndex(10, -4),
          withIndex(18, -4),
          withIndex(Long.MIN_VALUE, -4),
          withIndex(Long.MAX_VALUE, -4),
          new Declined(0, "12", FallbackReason.MEMLOCK),
          withIndex(0, -4),
          withIndex(0, 7),
          LARGE,
          withIndex(Long.MIN_VALUE + 8, Integer.MIN_VALUE));

  private static final Declined DECLINED =
      new Declined(0, "driver-ü", FallbackReason.BUDGET_REACHED);

  private static final TransportCounters TRANSPORT =
      new TransportCounters(
          1,
          2,
          3,
          4,
          LatencyCounts.of(Map.of(0, 5L, LatencyCounts.BUCKETS - 1, Long.MAX_VALUE - 5)),
          Map.of("RETRY_EXC_ERR", 6L, "DEADLINE", 7L),
          8,
          9,
          10,
          11,
          Map.of("PROTOCOL", 12L),
          13,
          14,
          15,
          16,
          17,
          18,
          Map.of("PORT_ERR", 19L));

  private final MessageCodec codec = new MessageCodec();

  private static Registered withIndex(long iova, int rkey) {
    RemoteAddress data = new RemoteAddress(-1, -2);
    return new Registered(1, "12", List.of(data), 5, 5, new RemoteAddress(iova, rkey));
  }

  private static PeerAddress peer(String name, String host, int port) {
    return new PeerAddress(name, new InetSocketAddress(host, port), Long.MIN_VALUE + port);
  }

  static Stream<Message> messages() {
    return Stream.of(
        new Hello("1"),
        new Announce(
            "1", peer("1", "10.77.0.1", 65535), "rxe0 port 1 (RoCE v2)", "RDMA on: device rxe0"),
        new Announce("2", peer("2", "fe80::1", 1), "", ""),
        new Announce("3", null, "", "RDMA off: NO_DEVICE"),
        new Publish(List.of()),
        new Publish(List.of(new Publish.Entry(0, LARGE), new Publish.Entry(99, DECLINED))),
        new Report("1", CounterSnapshot.ZERO),
        new Report(
            "1",
            new CounterSnapshot(
                1,
                2,
                3,
                4,
                5,
                6,
                Long.MAX_VALUE,
                8,
                9,
                10,
                Map.of(FallbackReason.MEMLOCK, 10L),
                TRANSPORT)),
        new Sync(7, 8192),
        new Sync(0, 0, false),
        new Taken(List.of()),
        new Taken(List.of(0, 7, Integer.MAX_VALUE)),
        new Table(
            false,
            4,
            true,
            List.of(
                new PeerState.On(peer("12", "10.0.0.1", 9)),
                new PeerState.Off("driver-ü", "RDMA off")),
            List.of(LARGE, DECLINED)),
        new Table(false, 2, false, List.of(), List.of(OF_ONE_REGION, SHORTER_THAN_ITS_REGION)),
        new Table(false, 5, false, List.of(), INDEXES_OF_FEW_REGIONS));
  }

  @ParameterizedTest
  @MethodSource("messages")
  void shouldReturnTheSameWhenEncodedAndDecoded(Message message) throws Exception {
    assertEquals(message, codec.decode(codec.encode(message)));
  }

  @Test
  void shouldReturnTheSameArraysWhenEncodedAndDecoded() throws Exception {
    byte[] token = {1, 2, 3};
    long[] mapIds = {0, 1, Long.MAX_VALUE};

    Welcome welcome = (Welcome) codec.decode(codec.encode(new Welcome(token)));
    Await await = (Await) codec.decode(codec.encode(new Await(1, "2", mapIds)));
    Shared shared = (Shared) codec.decode(codec.encode(new Shared(token, 8192, true)));

    assertArrayEquals(token, welcome.token());
    assertArrayEquals(mapIds, await.mapIds());
    assertArrayEquals(token, shared.reference());
    assertEquals(8192, shared.position());
    assertTrue(shared.more());
  }

  @ParameterizedTest
  @MethodSource("messages")
  void shouldRefuseWhenAMessageIsCutAnywhere(Message message) {
    byte[] bytes = codec.encode(message);

    for (int length = 0; length < bytes.length; length++) {
      byte[] cut = Arrays.copyOf(bytes, length);
      assertThrows(MalformedMessageException.class, () -> codec.decode(cut));
    }
  }

  @ParameterizedTest
  @MethodSource("messages")
  void shouldRefuseWhenBytesFollow(Message message) {
    byte[] bytes = codec.encode(message);

    assertThrows(
        MalformedMessageException.class,
        () -> codec.decode(Arrays.copyOf(bytes, bytes.length + 1)));
  }

  /** Kryo would load the class before it finds that it is not registered. */
  @Test
  void shouldNotLookForAClassWhenBytesNameOne() {
    Output output = new Output(100);
    output.writeByte(1);
    output.writeVarInt(1, true); // a class by name
    output.writeVarInt(0, true); // the first name
    output.writeString("no.such.Class");

    MalformedMessageException refused =
        assertThrows(MalformedMessageException.class, () -> codec.decode(output.toBytes()));

    assertTrue(refused.getMessage().endsWith("a class by name"), refused.getMessage());
  }

  /** Kryo's own numbers: null, then int, String and so on. */
  @ParameterizedTest
  @ValueSource(ints = {0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 40, 1000})
  void shouldRefuseWhatIsNotAMessage(int number) {
    Output output = new Output(100);
    output.writeByte(1);
    output.writeVarInt(number, true);
    // As a string: 64 Mi characters.
    output.writeBytes(new byte[] {(byte) 0xc0, (byte) 0x80, (byte) 0x80, (byte) 0x80, 1});

    MalformedMessageException refused =
        assertThrows(MalformedMessageException.class, () -> codec.decode(output.toBytes()));

    String why = number < 12 ? "not the number of a message" : "Encountered unregistered class ID";
    assertTrue(refused.getMessage().contains(why), refused.getMessage());
  }

  /** The count and the lengths are what a sender says: nothing is allocated for them alone. */
  @ParameterizedTest
  @ValueSource(ints = {10, 11, 12, 13, 14, 15, 16, 17, 18, 19})
  void shouldRefuseHugeCounts(int number) {
    Output output = new Output(100);
    output.writeByte(1);
    output.writeVarInt(number + 2, true);
    for (int i = 0; i < 10; i++) {
      output.writeVarInt(Integer.MAX_VALUE, true);
    }

    assertThrows(MalformedMessageException.class, () -> codec.decode(output.toBytes()));
  }

  @Test
  void shouldRefuseTextThatNobodyWrites() {
    Output output = new Output(1 << 20);
    output.writeByte(1);
    output.writeVarInt(10 + 2, true);
    output.writeVarInt(16_385, true);
    output.writeBytes(new byte[16_385]);

    assertThrows(MalformedMessageException.class, () -> codec.decode(output.toBytes()));
  }

  @Test
  void shouldRefuseAMapOutputThatNoDiskHolds() {
    RemoteAddress address = new RemoteAddress(0, 0);
    long most = 1L << 40;
    new Registered(1, "1", List.of(address), most, most, address);

    assertThrows(
        IllegalArgumentException.class,
        () -> new Registered(1, "1", List.of(address), most + 1, most + 1, address));
  }

  @Test
  void shouldRefuseOrReturnAMessageWhenBytesAreRandom() {
    Random random = new Random(42);
    for (int i = 0; i < 20_000; i++) {
      byte[] bytes = new byte[random.nextInt(64)];
      random.nextBytes(bytes);
      if (bytes.length > 1) {
        bytes[0] = 1;
        bytes[1] = (byte) (12 + random.nextInt(9));
      }
      try {
        codec.decode(bytes);
      } catch (MalformedMessageException expected) {
        assertTrue(expected.getMessage().startsWith("not a message"));
      }
    }
  }

  @Test
  void shouldTakeFewerThanFortyBytesWhenAMapOutputIsOfOneRegion() {
    List<MapOutputLocation> outputs = new ArrayList<>();
    for (int i = 0; i < ShuffleTable.CHUNK; i++) {
      RemoteAddress data = new RemoteAddress(new Random(i).nextLong(), i);
      outputs.add(new Registered(i, "executor-" + i % 100, List.of(data), 1 << 26, 1 << 26, data));
    }

    int bytes = codec.encode(new Table(false, 2, true, List.of(), outputs)).length;

    assertTrue(bytes < 40 * ShuffleTable.CHUNK, bytes + " bytes");
    assertTrue(bytes < 1 << 20, "fits into the smallest frame of Spark's RPC");
  }

  @Test
  void shouldTakeFewerThanThirtyBytesWhenIndexesLieSideBySide() {
    List<MapOutputLocation> outputs = new ArrayList<>();
    for (int i = 0; i < ShuffleTable.CHUNK; i++) {
      RemoteAddress data = new RemoteAddress(new Random(i).nextLong(), i);
      RemoteAddress index = new RemoteAddress(0x7fff_0000_1234_5678L + i * 8008L, 42);
      outputs.add(new Registered(i, "executor-" + i / 100, List.of(data), 1 << 26, 1 << 26, index));
    }

    int bytes = codec.encode(new Table(false, 2, true, List.of(), outputs)).length;

    assertTrue(bytes < 30 * ShuffleTable.CHUNK, bytes + " bytes");
  }

  @Test
  void shouldRefuseAnIndexAddressThatIsRelativeToNone() {
    byte[] bytes = codec.encode(new Table(false, 1, false, List.of(), List.of(OF_ONE_REGION)));
    int kind = bytes.length - 12 - 12 - 1 - 1;
    assertEquals(2, bytes[kind]);
    bytes[kind] = 3;

    MalformedMessageException refused =
        assertThrows(MalformedMessageException.class, () -> codec.decode(bytes));

    assertTrue(refused.getMessage().contains("relative to none"), refused.getMessage());
  }

  /** A message whose last count says that each byte after it is an element. */
  private byte[] withFalseCount(Message message) {
    byte[] sound = codec.encode(message);
    int count = 4 << 20;
    ByteBuffer bytes = ByteBuffer.allocate(sound.length - 1 + 4 + count);
    bytes.put(sound, 0, sound.length - 1);
    // 4 << 20 as a variable-length integer; what follows is no element.
    bytes.put(new byte[] {(byte) 0x80, (byte) 0x80, (byte) 0x80, 2});
    byte[] rest = new byte[count];
    Arrays.fill(rest, (byte) 0xff);
    return bytes.put(rest).array();
  }

  @ParameterizedTest
  @MethodSource("messagesThatEndWithACount")
  void shouldAllocateNoMoreThanTheMessageWhenACountIsFalse(Message message) {
    byte[] bytes = withFalseCount(message);
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    assertThrows(MalformedMessageException.class, () -> codec.decode(bytes));

    long before = threads.getCurrentThreadAllocatedBytes();
    assertThrows(MalformedMessageException.class, () -> codec.decode(bytes));
    long allocated = threads.getCurrentThreadAllocatedBytes() - before;

    assertTrue(allocated < bytes.length + (256 << 10), allocated + " of " + bytes.length);
  }

  static Stream<Message> messagesThatEndWithACount() {
    return Stream.of(
        new Publish(List.of()),
        new Await(1, "2", new long[0]),
        new Table(false, 1, false, List.of(), List.of()));
  }
}
