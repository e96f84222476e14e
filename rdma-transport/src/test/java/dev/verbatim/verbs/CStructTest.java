package dev.verbatim.verbs;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class CStructTest {

  @Test
  void shouldReachEachElementWhenStructsLieInArray() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment requests = IbvSendWr.STRUCT.allocate(arena, 3);
      MemorySegment elements = IbvSge.STRUCT.allocate(arena, 3);
      for (int i = 0; i < 3; i++) {
        IbvSendWr.WR_ID.set(requests, i, 100L + i);
        IbvSendWr.WR_RDMA_REMOTE_ADDR.set(requests, i, -1L - i);
        IbvSendWr.WR_RDMA_RKEY.set(requests, i, 0x80000000 + i);
        IbvSendWr.SG_LIST.setAddress(requests, i, elements.address() + i * IbvSge.STRUCT.size());
        IbvSge.LKEY.set(elements, i, 7 + i);
      }
      MemorySegment last = requests.asSlice(2 * IbvSendWr.STRUCT.size());
      assertEquals(102, IbvSendWr.WR_ID.get(last));
      assertEquals(-3, IbvSendWr.WR_RDMA_REMOTE_ADDR.get(requests, 2));
      assertEquals(0x80000002, IbvSendWr.WR_RDMA_RKEY.get(last));
      assertEquals(0, IbvSendWr.NEXT.getAddress(last));
      assertEquals(9, IbvSge.LKEY.get(IbvSge.STRUCT.at(IbvSendWr.SG_LIST.get(last))));
    }
  }

  @Test
  void shouldReadUnsignedWhenFieldIsShort() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment param = RdmaConnParam.STRUCT.allocate(arena);
      RdmaConnParam.INITIATOR_DEPTH.set(param, 255);
      assertEquals(255, RdmaConnParam.INITIATOR_DEPTH.get(param));
      MemorySegment attr = IbvPortAttr.allocate(arena);
      IbvPortAttr.LID.set(attr, 0xC001);
      assertEquals(0xC001, IbvPortAttr.LID.get(attr));
    }
  }

  @Test
  void shouldTakeExtendedSpeedWhenThereIsOne() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment attr = IbvPortAttr.allocate(arena);
      IbvPortAttr.ACTIVE_SPEED.set(attr, 128);
      assertEquals(128, IbvPortAttr.speed(attr));
      IbvPortAttr.ACTIVE_SPEED_EX.set(attr, 256);
      assertEquals(256, IbvPortAttr.speed(attr));
    }
  }

  @Test
  void shouldRefuseWhenPointerIsNull() {
    NullPointerException e =
        assertThrows(NullPointerException.class, () -> IbvQp.STRUCT.at(MemorySegment.NULL));
    assertEquals("pointer to struct ibv_qp is NULL", e.getMessage());
  }

  @Test
  void shouldKeepAddressPortAndScopeWhenSocketAddressGoesThroughC() throws Exception {
    InetAddress scoped =
        Inet6Address.getByAddress(null, InetAddress.getByName("fe80::1").getAddress(), 3);
    for (InetAddress address :
        new InetAddress[] {
          InetAddress.getByName("10.77.0.1"), InetAddress.getByName("2001:db8::5"), scoped
        }) {
      InetSocketAddress expected = new InetSocketAddress(address, 51_234);
      try (Arena arena = Arena.ofConfined()) {
        MemorySegment sockaddr = Sockaddr.allocate(arena, expected);
        InetSocketAddress actual = Sockaddr.read(sockaddr).orElseThrow();
        assertEquals(expected, actual);
        if (address instanceof Inet6Address v6) {
          assertEquals(v6.getScopeId(), ((Inet6Address) actual.getAddress()).getScopeId());
        }
      }
    }
  }

  @Test
  void shouldUseNetworkByteOrderWhenSocketAddressIsWritten() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment sockaddr =
          Sockaddr.allocate(arena, new InetSocketAddress("192.168.1.2", 0x1234));
      byte[] bytes = sockaddr.toArray(java.lang.foreign.ValueLayout.JAVA_BYTE);
      assertArrayEquals(
          new byte[] {0x12, 0x34, (byte) 192, (byte) 168, 1, 2},
          java.util.Arrays.copyOfRange(bytes, 2, 8));
    }
  }

  @Test
  void shouldAnswerEmptyWhenFamilyIsOther() {
    try (Arena arena = Arena.ofConfined()) {
      assertEquals(Optional.empty(), Sockaddr.read(SockaddrIn6.STRUCT.allocate(arena)));
      assertTrue(Sockaddr.describe(MemorySegment.NULL).contains("any"));
    }
  }
}
