package dev.verbatim.verbs;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.verbatim.device.DeviceInfo;
import dev.verbatim.device.DeviceListing;
import dev.verbatim.device.PortInfo;
import dev.verbatim.device.RdmaDevices;
import dev.verbatim.verbs.NativeLibraries.Loaded;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The bare binding on whatever device there is: Soft-RoCE in the guest, the stand-in elsewhere. */
@Timeout(120)
class LoopbackTest {
  private static final int LOCAL_WRITE = VerbsConstants.IBV_ACCESS_LOCAL_WRITE;
  private static final int REMOTE_READ = VerbsConstants.IBV_ACCESS_REMOTE_READ;

  private static Loaded libraries;
  private static DeviceInfo device;
  private static PortInfo port;
  private static InetAddress address;

  @TempDir Path directory;

  @BeforeAll
  static void findDevice() throws Exception {
    assumeTrue(NativeLibraries.load() instanceof Loaded, "no RDMA libraries");
    libraries = (Loaded) NativeLibraries.load();
    DeviceListing listing = new RdmaDevices(libraries.verbs()).list();
    for (DeviceInfo candidate : listing.devices()) {
      for (PortInfo each : candidate.ports()) {
        Optional<InetAddress> found =
            each.gids().stream().flatMap(gid -> gid.address().stream()).findFirst();
        if (each.active() && found.isPresent()) {
          device = candidate;
          port = each;
          address = found.get();
        }
      }
    }
    assumeTrue(device != null, () -> "no active RDMA port with an IP address: " + listing);
  }

  @Test
  void shouldDescribeDeviceWhenItIsListed(TestReporter reporter) {
    reporter.publishEntry(device.toString());
    assertFalse(device.name().isEmpty());
    assertTrue(device.completionVectors() > 0);
    assertTrue(device.limits().maxQpRdAtom() > 0);
    assertTrue(device.limits().maxMr() > 0);
    assertTrue(port.activeMtu() >= 256, "active MTU " + port.activeMtu());
    assertTrue(port.maxMessageSize() >= 1 << 20);
    assertTrue(port.gids().stream().anyMatch(gid -> !gid.netdev().isEmpty()));
    assertFalse(port.link() == PortInfo.Link.OTHER);
  }

  @Test
  void shouldPassStartupCheckWhenDeviceIsOpened() throws Exception {
    Verbs verbs = libraries.verbs();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment list = verbs.getDeviceList(arena.allocate(ValueLayout.JAVA_INT));
      MemorySegment first = list.get(ValueLayout.ADDRESS, 0);
      MemorySegment context = verbs.openDevice(first);
      try {
        assertEquals(Optional.empty(), LibraryCheck.problem(verbs, first, context));
        MemorySegment gid = IbvGid.STRUCT.allocate(arena);
        verbs.queryGid(context, 1, port.gids().getFirst().index(), gid);
        assertFalse(IbvGid.RAW.get(gid).mismatch(IbvGid.STRUCT.allocate(arena)) < 0);
        VerbsException e =
            assertThrows(
                VerbsException.class,
                () -> verbs.queryPort(context, 99, IbvPortAttr.allocate(arena)));
        assertEquals("ibv_query_port", e.function());
        assertTrue(e.getMessage().contains("port=99"), e.getMessage());
      } finally {
        verbs.closeDevice(context);
        verbs.freeDeviceList(list);
      }
    }
  }

  @Test
  void shouldTellNoDeviceWhenAddressIsNotRdma() throws Exception {
    RdmaCm cm = libraries.rdmaCm();
    MemorySegment channel = cm.createEventChannel();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment id = cm.createId(channel, MemorySegment.NULL, VerbsConstants.RDMA_PS_TCP);
      InetSocketAddress foreign = new InetSocketAddress("203.0.113.77", 0);
      VerbsException e =
          assertThrows(
              VerbsException.class, () -> cm.bindAddr(id, Sockaddr.allocate(arena, foreign)));
      assertTrue(e.errno() == Errno.ENODEV || e.errno() == Errno.EADDRNOTAVAIL, e.getMessage());
      assertTrue(e.getMessage().contains("203.0.113.77"), e.getMessage());
      cm.destroyId(id);
    } finally {
      cm.destroyEventChannel(channel);
    }
  }

  @Test
  void shouldReadFileOfPeerWhenItIsMappedReadOnly() throws Exception {
    byte[] content = new byte[300_000];
    new Random(1).nextBytes(content);
    Path file = Files.write(directory.resolve("map-output"), content);
    try (LoopbackPair pair = new LoopbackPair(libraries, address);
        FileChannel channel = FileChannel.open(file, StandardOpenOption.READ);
        Arena arena = Arena.ofShared()) {
      MemorySegment mapping = channel.map(MapMode.READ_ONLY, 0, content.length, arena);
      long iova = 0x5a5a_0000_0000L + (mapping.address() & (pair.posix.pageSize() - 1));
      MemorySegment remote =
          pair.verbs.regMrIova(pair.pd, mapping, content.length, iova, REMOTE_READ);
      MemorySegment buffer = anonymous(pair, content.length);
      MemorySegment local = pair.verbs.regMr(pair.pd, buffer, content.length, LOCAL_WRITE);
      assertEquals(content.length, IbvMr.LENGTH.get(local));

      // Three READs in a chain; only the last one is signalled.
      MemorySegment requests = requests(pair, 3, buffer, IbvMr.LKEY.get(local), 100_000);
      for (int i = 0; i < 3; i++) {
        IbvSendWr.WR_RDMA_REMOTE_ADDR.set(requests, i, iova + i * 100_000L);
        IbvSendWr.WR_RDMA_RKEY.set(requests, i, IbvMr.RKEY.get(remote));
      }
      pair.verbs.postSend(pair.qp, requests, pair.arena.allocate(ValueLayout.ADDRESS));

      MemorySegment wc = IbvWc.STRUCT.allocate(pair.arena, 8);
      assertEquals(1, pair.awaitCompletions(wc, 8));
      assertEquals(WcStatus.SUCCESS, WcStatus.of(IbvWc.STATUS.get(wc)));
      assertEquals(102, IbvWc.WR_ID.get(wc));
      assertEquals(VerbsConstants.IBV_WC_RDMA_READ, IbvWc.OPCODE.get(wc));
      assertEquals(IbvQp.QP_NUM.get(pair.qp), IbvWc.QP_NUM.get(wc));
      assertArrayEquals(content, buffer.toArray(ValueLayout.JAVA_BYTE));

      pair.verbs.deregMr(local);
      pair.verbs.deregMr(remote);
      pair.posix.munmap(buffer);
    }
  }

  @Test
  void shouldEndWithAccessErrorWhenRkeyIsStale() throws Exception {
    try (LoopbackPair pair = new LoopbackPair(libraries, address)) {
      MemorySegment buffer = anonymous(pair, 8192);
      MemorySegment local = pair.verbs.regMr(pair.pd, buffer, 4096, LOCAL_WRITE);
      MemorySegment remote = pair.verbs.regMr(pair.pd, buffer.asSlice(4096), 4096, REMOTE_READ);
      int rkey = IbvMr.RKEY.get(remote);
      pair.verbs.deregMr(remote);

      MemorySegment requests = requests(pair, 1, buffer, IbvMr.LKEY.get(local), 64);
      IbvSendWr.WR_RDMA_REMOTE_ADDR.set(requests, 0, buffer.address() + 4096);
      IbvSendWr.WR_RDMA_RKEY.set(requests, 0, rkey);
      pair.verbs.postSend(pair.qp, requests, pair.arena.allocate(ValueLayout.ADDRESS));

      MemorySegment wc = IbvWc.STRUCT.allocate(pair.arena, 8);
      assertEquals(1, pair.awaitCompletions(wc, 8));
      assertEquals(WcStatus.REM_ACCESS_ERR, WcStatus.of(IbvWc.STATUS.get(wc)));

      MemorySegment attr = IbvQpAttr.STRUCT.allocate(pair.arena);
      MemorySegment init = IbvQpInitAttr.STRUCT.allocate(pair.arena);
      pair.verbs.queryQp(pair.qp, attr, VerbsConstants.IBV_QP_STATE, init);
      assertEquals(QpState.ERR, QpState.of(IbvQpAttr.QP_STATE.get(attr)));
      pair.verbs.deregMr(local);
      pair.posix.munmap(buffer);
    }
  }

  @Test
  void shouldFlushWhenQueuePairIsInError() throws Exception {
    try (LoopbackPair pair = new LoopbackPair(libraries, address)) {
      MemorySegment receive = IbvRecvWr.STRUCT.allocate(pair.arena);
      IbvRecvWr.WR_ID.set(receive, 5);
      pair.verbs.postRecv(pair.qp, receive, pair.arena.allocate(ValueLayout.ADDRESS));
      MemorySegment attr = IbvQpAttr.STRUCT.allocate(pair.arena);
      IbvQpAttr.QP_STATE.set(attr, QpState.ERR.number());
      pair.verbs.modifyQp(pair.qp, attr, VerbsConstants.IBV_QP_STATE);

      MemorySegment wc = IbvWc.STRUCT.allocate(pair.arena, 8);
      assertEquals(1, pair.awaitCompletions(wc, 8));
      assertEquals(5, IbvWc.WR_ID.get(wc));
      assertEquals(WcStatus.WR_FLUSH_ERR, WcStatus.of(IbvWc.STATUS.get(wc)));
    }
  }

  @Test
  void shouldNameErrnoWhenRegistrationFails() throws Exception {
    try (LoopbackPair pair = new LoopbackPair(libraries, address)) {
      VerbsException e =
          assertThrows(
              VerbsException.class,
              () -> pair.verbs.regMr(pair.pd, MemorySegment.ofAddress(4096), 4096, REMOTE_READ));
      assertEquals(Errno.EFAULT, e.errno(), e.getMessage());
      assertTrue(e.getMessage().contains("length=4096, access=0x4"), e.getMessage());
    }
  }

  @Test
  void shouldAnswerNothingWhenNoEventWaits() throws Exception {
    try (LoopbackPair pair = new LoopbackPair(libraries, address)) {
      posixNonBlocking(pair);
      MemorySegment event = IbvAsyncEvent.STRUCT.allocate(pair.arena);
      while (pair.verbs.getAsyncEvent(pair.context, event)) {
        pair.verbs.ackAsyncEvent(event);
      }
      MemorySegment out = pair.arena.allocate(ValueLayout.ADDRESS, 2);
      assertFalse(pair.verbs.getCqEvent(pair.compChannel, out, out.asSlice(8)));
      assertEquals(0, pair.cm.getCmEvent(pair.channel).address());
    }
  }

  private static void posixNonBlocking(LoopbackPair pair) throws Exception {
    pair.posix.setNonBlocking(IbvContext.ASYNC_FD.get(pair.context));
  }

  private static MemorySegment anonymous(LoopbackPair pair, long bytes) throws Exception {
    return pair.posix.mmap(
        bytes,
        PosixConstants.PROT_READ | PosixConstants.PROT_WRITE,
        PosixConstants.MAP_PRIVATE | PosixConstants.MAP_ANONYMOUS,
        -1,
        0);
  }

  /** A chain of READs into consecutive parts of a buffer; the last one is signalled. */
  private static MemorySegment requests(
      LoopbackPair pair, int count, MemorySegment buffer, int lkey, int length) {
    MemorySegment requests = IbvSendWr.STRUCT.allocate(pair.arena, count);
    MemorySegment elements = IbvSge.STRUCT.allocate(pair.arena, count);
    for (int i = 0; i < count; i++) {
      IbvSge.ADDR.set(elements, i, buffer.address() + (long) i * length);
      IbvSge.LENGTH.set(elements, i, length);
      IbvSge.LKEY.set(elements, i, lkey);
      IbvSendWr.WR_ID.set(requests, i, 100L + i);
      IbvSendWr.OPCODE.set(requests, i, VerbsConstants.IBV_WR_RDMA_READ);
      IbvSendWr.NUM_SGE.set(requests, i, 1);
      IbvSendWr.SG_LIST.setAddress(requests, i, elements.address() + i * IbvSge.STRUCT.size());
      if (i + 1 < count) {
        IbvSendWr.NEXT.setAddress(
            requests, i, requests.address() + (i + 1) * IbvSendWr.STRUCT.size());
      } else {
        IbvSendWr.SEND_FLAGS.set(requests, i, VerbsConstants.IBV_SEND_SIGNALED);
      }
    }
    return requests;
  }
}
