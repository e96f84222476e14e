package dev.verbatim.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import com.sun.management.ThreadMXBean;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The calls through {@code ibv_context.ops}, with a driver of a few lines of C. */
class DataPathTest {
  private static final String DRIVER =
      """
      #include <infiniband/verbs.h>
      #include <errno.h>
      static uint64_t posted; static int count;
      int drv_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad) {
        for (; wr; wr = wr->next) {
          if (wr->opcode != IBV_WR_RDMA_READ || wr->sg_list[0].lkey != 7) {
            *bad = wr;
            return ENOMEM;
          }
          posted += wr->wr.rdma.remote_addr + wr->sg_list[0].length;
          count++;
        }
        return 0;
      }
      int drv_poll_cq(struct ibv_cq *cq, int n, struct ibv_wc *wc) {
        if (cq->cqe == -1) return -1;
        for (int i = 0; i < n; i++) {
          wc[i].wr_id = posted + i;
          wc[i].status = IBV_WC_RETRY_EXC_ERR;
          wc[i].qp_num = count;
        }
        return n;
      }
      int drv_other_poll_cq(struct ibv_cq *cq, int n, struct ibv_wc *wc) { return 0; }
      int drv_req_notify_cq(struct ibv_cq *cq, int solicited) { return solicited ? EINVAL : 0; }
      """;

  @TempDir static Path directory;

  private static SymbolLookup driver;

  private final DataPath dataPath = new DataPath();
  private Arena arena;
  private MemorySegment context;
  private MemorySegment cq;
  private MemorySegment qp;
  private MemorySegment wc;
  private MemorySegment badWr;

  @BeforeAll
  static void compile() throws Exception {
    assumeFalse(Boolean.getBoolean("verbatim.skipHeaderProof"), "no compiler wanted");
    Path source = Files.writeString(directory.resolve("driver.c"), DRIVER);
    Path library = directory.resolve("libdriver.so");
    Process gcc =
        new ProcessBuilder("gcc", "-shared", "-fPIC", "-o", library.toString(), source.toString())
            .inheritIO()
            .start();
    assertEquals(0, gcc.waitFor(), "gcc and libibverbs-dev are needed");
    driver = SymbolLookup.libraryLookup(library, Arena.global());
  }

  @BeforeEach
  void open() {
    arena = Arena.ofShared();
    context = contextWith("drv_poll_cq");
    cq = IbvCq.STRUCT.allocate(arena);
    IbvCq.CONTEXT.set(cq, context);
    qp = IbvQp.STRUCT.allocate(arena);
    IbvQp.CONTEXT.set(qp, context);
    wc = IbvWc.STRUCT.allocate(arena, 16);
    badWr = arena.allocate(ValueLayout.ADDRESS);
  }

  private MemorySegment contextWith(String pollCq) {
    MemorySegment made = IbvContext.STRUCT.allocate(arena);
    IbvContext.OPS_POLL_CQ.set(made, driver.findOrThrow(pollCq));
    IbvContext.OPS_REQ_NOTIFY_CQ.set(made, driver.findOrThrow("drv_req_notify_cq"));
    IbvContext.OPS_POST_SEND.set(made, driver.findOrThrow("drv_post_send"));
    return made;
  }

  @AfterEach
  void close() {
    arena.close();
  }

  private MemorySegment chain(int length) {
    MemorySegment requests = IbvSendWr.STRUCT.allocate(arena, length);
    MemorySegment elements = IbvSge.STRUCT.allocate(arena, length);
    for (int i = 0; i < length; i++) {
      IbvSge.LENGTH.set(elements, i, 10);
      IbvSge.LKEY.set(elements, i, 7);
      IbvSendWr.OPCODE.set(requests, i, VerbsConstants.IBV_WR_RDMA_READ);
      IbvSendWr.NUM_SGE.set(requests, i, 1);
      IbvSendWr.WR_RDMA_REMOTE_ADDR.set(requests, i, 1000);
      IbvSendWr.SG_LIST.setAddress(requests, i, elements.address() + i * IbvSge.STRUCT.size());
      if (i + 1 < length) {
        IbvSendWr.NEXT.setAddress(
            requests, i, requests.address() + (i + 1) * IbvSendWr.STRUCT.size());
      }
    }
    return requests;
  }

  @Test
  void shouldReachDriverWhenChainIsPosted() throws Exception {
    dataPath.pollCq(cq, 1, wc);
    long sumBefore = IbvWc.WR_ID.get(wc);
    int countBefore = IbvWc.QP_NUM.get(wc);

    dataPath.postSend(qp, chain(5), badWr);

    assertEquals(3, dataPath.pollCq(cq, 3, wc));
    assertEquals(sumBefore + 5 * 1010 + 2, IbvWc.WR_ID.get(wc, 2));
    assertEquals(countBefore + 5, IbvWc.QP_NUM.get(wc, 2));
    assertEquals(WcStatus.RETRY_EXC_ERR, WcStatus.of(IbvWc.STATUS.get(wc, 2)));
  }

  @Test
  void shouldTellErrnoAndFirstRefusedRequestWhenDriverRefuses() {
    MemorySegment chain = chain(3);
    IbvSendWr.OPCODE.set(chain, 1, VerbsConstants.IBV_WR_SEND);

    VerbsException e =
        assertThrows(VerbsException.class, () -> dataPath.postSend(qp, chain, badWr));

    assertEquals(Errno.ENOMEM, e.errno());
    assertEquals("ibv_post_send", e.function());
    assertEquals(
        chain.address() + IbvSendWr.STRUCT.size(), badWr.get(ValueLayout.ADDRESS, 0).address());
  }

  @Test
  void shouldThrowWhenDriverReportsFailure() throws Exception {
    IbvCq.CQE.set(cq, -1);
    VerbsException poll = assertThrows(VerbsException.class, () -> dataPath.pollCq(cq, 1, wc));
    assertEquals("ibv_poll_cq", poll.function());

    dataPath.reqNotifyCq(cq, false);
    VerbsException notify =
        assertThrows(VerbsException.class, () -> dataPath.reqNotifyCq(cq, true));
    assertEquals(Errno.EINVAL, notify.errno());
  }

  @Test
  void shouldRefuseWhenRoomIsTooSmall() {
    assertThrows(IllegalArgumentException.class, () -> dataPath.pollCq(cq, 17, wc));
  }

  @Test
  void shouldCallEachDriverWhenTwoAreInUse() throws Exception {
    MemorySegment other = IbvCq.STRUCT.allocate(arena);
    IbvCq.CONTEXT.set(other, contextWith("drv_other_poll_cq"));

    for (int i = 0; i < 3; i++) {
      assertEquals(2, dataPath.pollCq(cq, 2, wc));
      assertEquals(0, dataPath.pollCq(other, 2, wc));
    }
  }

  @Test
  void shouldThrowInsteadOfCrashWhenMemoryIsClosed() {
    Arena closed = Arena.ofShared();
    MemorySegment gone = IbvWc.STRUCT.allocate(closed, 4);
    closed.close();
    assertThrows(IllegalStateException.class, () -> dataPath.pollCq(cq, 1, gone));
  }

  @Test
  void shouldNotAllocateWhenPollingAndPosting() throws Exception {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    MemorySegment chain = chain(4);
    // Until the JIT has compiled the calls, method handles box their arguments.
    long perRound = Long.MAX_VALUE;
    for (int attempt = 0; attempt < 50 && perRound > 0; attempt++) {
      long before = threads.getCurrentThreadAllocatedBytes();
      for (int i = 0; i < 10_000; i++) {
        dataPath.postSend(qp, chain, badWr);
        dataPath.pollCq(cq, 4, wc);
        dataPath.reqNotifyCq(cq, false);
      }
      perRound = (threads.getCurrentThreadAllocatedBytes() - before) / 10_000;
    }
    assertEquals(0, perRound, "bytes allocated per post, poll and arm");
    assertTrue(IbvWc.QP_NUM.get(wc) > 40_000);
  }
}
