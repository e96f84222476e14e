package dev.verbatim.it.transport;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.verbatim.transport.EndpointBuffer;
import dev.verbatim.transport.EndpointConfig;
import dev.verbatim.transport.EndpointGroup;
import dev.verbatim.transport.FilePinMode;
import dev.verbatim.transport.MemoryAccess;
import dev.verbatim.transport.MemoryRegion;
import dev.verbatim.transport.PeerAddress;
import dev.verbatim.transport.PeerConnection;
import dev.verbatim.transport.RdmaTransport;
import dev.verbatim.transport.ReadBatch;
import dev.verbatim.transport.ReadBuffer;
import dev.verbatim.transport.ReadFailure;
import java.lang.foreign.ValueLayout;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

/** Every public method after close: an exception or an answer, as documented, and never a crash. */
class ClosedDeviceTest extends DeviceTest {
  @TempDir private Path directory;

  private RdmaTransport reader;
  private PeerAddress address;
  private PeerConnection connection;
  private MemoryRegion served;

  @BeforeEach
  void connect() throws Exception {
    RdmaTransport server = open("server");
    reader = open("reader");
    served = patternRegion(server, 4096);
    address = Transports.address("server", server);
    connection = Transports.connect(reader, address);
    assertReads(reader, connection, served, 0, 100);
  }

  /** All public methods of the type are among the given ones: a new one needs a line here. */
  private static void assertAfterClose(
      Class<?> type, Map<String, Executable> throwing, Map<String, Executable> answering) {
    TreeSet<String> named = new TreeSet<>(throwing.keySet());
    named.addAll(answering.keySet());
    assertEquals(
        Arrays.stream(type.getDeclaredMethods())
            .filter(
                m -> Modifier.isPublic(m.getModifiers()) && !Modifier.isStatic(m.getModifiers()))
            .map(Method::getName)
            .collect(Collectors.toCollection(TreeSet::new)),
        named);
    throwing.forEach((name, call) -> assertThrows(IllegalStateException.class, call, name));
    answering.forEach((name, call) -> assertDoesNotThrow(call, name));
  }

  @Test
  void shouldThrowWhenATransportIsUsedAfterClose() throws Exception {
    Path file = directory.resolve("shuffle.data");
    Pattern.write(file, 100);
    reader.close();
    assertAfterClose(
        RdmaTransport.class,
        Map.of(
            "onPortChange", () -> reader.onPortChange(state -> {}),
            "allocate", () -> reader.allocate(1),
            "registerFile", () -> reader.registerFile(file, 100, FilePinMode.READ_ONLY_MAPPING),
            "probe", () -> reader.probe(directory),
            "tryAcquire", () -> reader.tryAcquire(1),
            "connect", () -> reader.connect(address),
            "disconnect", () -> reader.disconnect("server"),
            "openGroup", () -> reader.openGroup(new EndpointConfig())),
        Map.of(
            "close",
            reader::close,
            "info",
            reader::info,
            "self",
            () -> assertEquals("reader", reader.self().name()),
            "portActive",
            () -> assertEquals(false, reader.portActive()),
            "deviceFailure",
            () -> assertEquals(Optional.empty(), reader.deviceFailure()),
            "counters",
            () -> Transports.assertNothingLeft(reader)));
  }

  @Test
  void shouldThrowWhenAGroupOrItsBufferIsUsedAfterClose() throws Exception {
    EndpointGroup group = reader.openGroup(new EndpointConfig());
    EndpointBuffer buffer = group.allocate(8, MemoryAccess.REMOTE_READ);
    var memory = buffer.segment();
    reader.close(); // closes the group
    EndpointRecorder nobody = new EndpointRecorder();
    assertAfterClose(
        EndpointGroup.class,
        Map.of(
            "allocate", () -> group.allocate(8),
            "listen", () -> group.listen(0, request -> {}),
            "connect", () -> group.connect(address.address(), new byte[0], nobody)),
        Map.of("limits", group::limits, "address", group::address, "close", group::close));
    assertAfterClose(
        EndpointBuffer.class,
        Map.of("segment", buffer::segment),
        Map.of(
            "length", buffer::length,
            "access", buffer::access,
            "slice", () -> buffer.slice(0, 1),
            "all", buffer::all,
            "remote", buffer::remote,
            "close", buffer::close));
    assertThrows(IllegalStateException.class, () -> memory.get(ValueLayout.JAVA_BYTE, 0));
  }

  @Test
  void shouldTellABatchThatItsConnectionIsClosed() throws Exception {
    ReadBuffer buffer = reader.tryAcquire(100).orElseThrow();
    reader.close();
    assertAfterClose(
        PeerConnection.class,
        Map.of(),
        Map.of(
            "peer", () -> assertEquals(address, connection.peer()),
            "isOpen", () -> assertEquals(false, connection.isOpen()),
            "read", () -> readInVain(buffer)));
    buffer.release();
  }

  private void readInVain(ReadBuffer buffer) throws InterruptedException {
    Outcome outcome = new Outcome();
    connection.read(new ReadBatch(outcome).add(served.iova(), served.rkey(), buffer, 0, 100));
    outcome.assertFailed(ReadFailure.Kind.DISCONNECTED);
  }

  @Test
  void shouldThrowWhenTheMemoryOfARegionIsTouchedAfterClose() throws Exception {
    Path file = directory.resolve("shuffle.data");
    Pattern.write(file, 100);
    MemoryRegion closed = reader.allocate(1);
    MemoryRegion ofFile = reader.registerFile(file, 100, reader.probe(directory)).getFirst();
    for (MemoryRegion region : new MemoryRegion[] {closed, ofFile}) {
      var memory = region.segment();
      if (region == closed) {
        region.close();
      } else {
        reader.close(); // closes the other one
      }
      assertAfterClose(
          MemoryRegion.class,
          Map.of("segment", region::segment),
          Map.of(
              "iova", region::iova,
              "rkey", region::rkey,
              "length", region::length,
              "close", region::close));
      assertThrows(IllegalStateException.class, () -> memory.get(ValueLayout.JAVA_BYTE, 0));
    }
  }

  @Test
  void shouldThrowWhenABufferIsTouchedAfterItsReleaseOrTheTransportsClose() throws Exception {
    ReadBuffer buffer = reader.tryAcquire(100).orElseThrow();
    ReadBuffer released = reader.tryAcquire(100).orElseThrow();
    var memory = buffer.segment();
    var bytes = buffer.asByteBuffer(0, 100);
    released.release();
    assertAfterClose(
        ReadBuffer.class,
        Map.of(
            "segment", released::segment,
            "asByteBuffer", () -> released.asByteBuffer(0, 1),
            "retain", released::retain,
            "release", released::release),
        Map.of("length", () -> assertEquals(100, released.length())));
    reader.close();
    assertThrows(IllegalStateException.class, () -> memory.get(ValueLayout.JAVA_BYTE, 0));
    assertThrows(IllegalStateException.class, () -> bytes.get(0));
    assertAfterClose(
        ReadBuffer.class,
        Map.of(
            "segment", () -> buffer.segment().get(ValueLayout.JAVA_BYTE, 0),
            "asByteBuffer", () -> buffer.asByteBuffer(0, 1).get(0)),
        Map.of(
            "retain", buffer::retain,
            "release", () -> buffer.retain().release(),
            "length", () -> assertEquals(100, buffer.length())));
    buffer.release();
    buffer.release();
    assertThrows(IllegalStateException.class, buffer::release);
  }
}
