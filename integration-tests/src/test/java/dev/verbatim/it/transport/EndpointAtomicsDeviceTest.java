package dev.verbatim.it.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.verbatim.it.machine.Iwarp;
import dev.verbatim.transport.BufferSlice;
import dev.verbatim.transport.EndpointBuffer;
import dev.verbatim.transport.EndpointConfig;
import dev.verbatim.transport.EndpointGroup;
import dev.verbatim.transport.MemoryAccess;
import dev.verbatim.transport.RemoteMemory;
import dev.verbatim.transport.WorkCompletion;
import dev.verbatim.transport.WorkOperation;
import dev.verbatim.verbs.WcStatus;
import java.lang.foreign.ValueLayout;
import java.util.TreeSet;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Immediate data and atomic operations between endpoints. */
class EndpointAtomicsDeviceTest extends DeviceTest {
  private EndpointGroup nearGroup;
  private EndpointGroup farGroup;

  @BeforeEach
  void openGroups() throws Exception {
    Iwarp.assumeAbsent("no atomic operations, and siw takes no immediate data");
    nearGroup = open("near").openGroup(new EndpointConfig());
    farGroup = open("far").openGroup(new EndpointConfig());
  }

  @Test
  void shouldCarryImmediateDataWithMessages() throws Exception {
    EndpointBuffer own = nearGroup.allocate(100);
    EndpointBuffer room = farGroup.allocate(200);
    EndpointPair pair =
        EndpointPair.connect(
            nearGroup,
            farGroup,
            far -> {
              EndpointPair.receive(far, 1, room.slice(0, 100));
              EndpointPair.receive(far, 2);
              EndpointPair.receive(far, 3, room.slice(100, 100));
            });
    Pattern.fill(own.segment());
    pair.near().sendWithImmediate(10, 0xcafe_babe, own.all());
    pair.near().sendWithImmediate(11, 0);
    pair.near().send(12, own.slice(1, 10));
    WorkCompletion first = pair.farSays().succeeded(1, WorkOperation.RECEIVE);
    assertTrue(first.hasImmediate());
    assertEquals(0xcafe_babe, first.immediate());
    assertEquals(100, first.bytes());
    Pattern.assertEqualTo(room.slice(0, 100).segment(), 0);
    WorkCompletion second = pair.farSays().succeeded(2, WorkOperation.RECEIVE);
    assertTrue(second.hasImmediate());
    assertEquals(0, second.immediate());
    assertEquals(0, second.bytes());
    assertFalse(pair.farSays().succeeded(3, WorkOperation.RECEIVE).hasImmediate());
    for (int id = 10; id <= 12; id++) {
      pair.nearSays().succeeded(id, WorkOperation.SEND);
    }
  }

  @Test
  void shouldTellThePeerOfAWriteWithImmediateData() throws Exception {
    EndpointBuffer own = nearGroup.allocate(20_000);
    EndpointBuffer written = farGroup.allocate(20_000, MemoryAccess.REMOTE_WRITE);
    EndpointBuffer untouched = farGroup.allocate(100);
    EndpointPair pair =
        EndpointPair.connect(
            nearGroup, farGroup, far -> EndpointPair.receive(far, 1, untouched.all()));
    Pattern.fill(own.segment());
    RemoteMemory to = written.remote().slice(1000, 15_000);
    pair.near().writeWithImmediate(10, 77, to, own.slice(3000, 15_000));
    pair.nearSays().succeeded(10, WorkOperation.WRITE);
    WorkCompletion told = pair.farSays().succeeded(1, WorkOperation.RECEIVE_OF_WRITE);
    assertEquals(77, told.immediate());
    assertEquals(15_000, told.bytes());
    Pattern.assertEqualTo(written.slice(1000, 15_000).segment(), 3000);
    assertEquals(-1, untouched.segment().mismatch(farGroup.allocate(100).segment()));
  }

  @Test
  void shouldAddAtomicallyWhenSeveralPeersDo() throws Exception {
    int each = 100;
    EndpointBuffer counter =
        farGroup.allocate(64, MemoryAccess.REMOTE_ATOMIC, MemoryAccess.REMOTE_READ);
    counter.segment().set(ValueLayout.JAVA_LONG, 8, 1000);
    RemoteMemory word = counter.remote().slice(8, 8);
    EndpointBuffer before = nearGroup.allocate(2L * each * Long.BYTES);
    EndpointPair one = EndpointPair.connect(nearGroup, farGroup);
    EndpointPair other = EndpointPair.connect(nearGroup, farGroup);
    for (int i = 0; i < each; i++) {
      one.near().fetchAndAdd(i, word, 3, slot(before, i));
      other.near().fetchAndAdd(i, word, 3, slot(before, each + i));
    }
    for (int i = 0; i < each; i++) {
      one.nearSays().succeeded(i, WorkOperation.FETCH_AND_ADD);
      other.nearSays().succeeded(i, WorkOperation.FETCH_AND_ADD);
    }
    TreeSet<Long> seen = new TreeSet<>();
    for (int i = 0; i < 2 * each; i++) {
      seen.add(slot(before, i).segment().get(ValueLayout.JAVA_LONG, 0));
    }
    assertEquals(2 * each, seen.size(), "each addition saw another value");
    assertEquals(1000, seen.first());
    assertEquals(1000 + 3 * (2 * each - 1), seen.last());
    assertEquals(1000 + 3L * 2 * each, counter.segment().get(ValueLayout.JAVA_LONG, 8));
    assertEquals(0, counter.segment().get(ValueLayout.JAVA_LONG, 0));
    assertEquals(0, counter.segment().get(ValueLayout.JAVA_LONG, 16));
  }

  private static BufferSlice slot(EndpointBuffer buffer, int index) {
    return buffer.slice((long) index * Long.BYTES, Long.BYTES);
  }

  @Test
  void shouldSwapOnlyWhatIsAsExpected() throws Exception {
    EndpointBuffer word = farGroup.allocate(8, MemoryAccess.REMOTE_ATOMIC);
    EndpointBuffer before = nearGroup.allocate(8);
    EndpointPair pair = EndpointPair.connect(nearGroup, farGroup);
    word.segment().set(ValueLayout.JAVA_LONG, 0, Long.MIN_VALUE + 5);

    pair.near().compareAndSwap(1, word.remote(), 5, 6, before.all());
    pair.nearSays().succeeded(1, WorkOperation.COMPARE_AND_SWAP);
    assertEquals(Long.MIN_VALUE + 5, before.segment().get(ValueLayout.JAVA_LONG, 0));
    assertEquals(Long.MIN_VALUE + 5, word.segment().get(ValueLayout.JAVA_LONG, 0));

    pair.near().compareAndSwap(2, word.remote(), Long.MIN_VALUE + 5, -6, before.all());
    pair.nearSays().succeeded(2, WorkOperation.COMPARE_AND_SWAP);
    assertEquals(Long.MIN_VALUE + 5, before.segment().get(ValueLayout.JAVA_LONG, 0));
    assertEquals(-6, word.segment().get(ValueLayout.JAVA_LONG, 0));
  }

  @Test
  void shouldRefuseAtomicOperationsThatCannotBe() throws Exception {
    EndpointBuffer readable = farGroup.allocate(64, MemoryAccess.REMOTE_READ);
    EndpointBuffer own = nearGroup.allocate(64);
    EndpointPair pair = EndpointPair.connect(nearGroup, farGroup);
    RemoteMemory remote = readable.remote();
    assertContains(
        "multiple of 8",
        assertThrows(
                IllegalArgumentException.class,
                () -> pair.near().fetchAndAdd(1, remote.slice(4, 8), 1, own.slice(0, 8)))
            .getMessage());
    assertContains(
        "not 8",
        assertThrows(
                IllegalArgumentException.class,
                () -> pair.near().fetchAndAdd(1, remote, 1, own.slice(0, 16)))
            .getMessage());
    assertThrows(
        IndexOutOfBoundsException.class,
        () -> pair.near().fetchAndAdd(1, remote.slice(56, 4), 1, own.slice(0, 8)));
    pair.near().compareAndSwap(2, remote, 0, 1, own.slice(0, 8));
    pair.nearSays().failed(2, WcStatus.REM_ACCESS_ERR);
    assertEquals(0, readable.segment().get(ValueLayout.JAVA_LONG, 0));
  }
}
