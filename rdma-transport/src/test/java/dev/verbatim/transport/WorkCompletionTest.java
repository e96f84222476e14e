package dev.verbatim.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.verbatim.verbs.IbvWc;
import dev.verbatim.verbs.VerbsConstants;
import dev.verbatim.verbs.WcStatus;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class WorkCompletionTest {
  private final MemorySegment entries = IbvWc.STRUCT.allocate(Arena.ofAuto(), 2);

  private WorkCompletion read(WorkOperation posted) {
    return new WorkEnd(entries).at(1).of(7, posted);
  }

  @Test
  void shouldTellWhatCameWithAReceive() {
    IbvWc.OPCODE.set(entries, 1, VerbsConstants.IBV_WC_RECV);
    IbvWc.BYTE_LEN.set(entries, 1, -2); // the field is unsigned
    IbvWc.IMM_DATA.set(entries, 1, 5);
    WorkCompletion plain = read(WorkOperation.RECEIVE);
    assertTrue(plain.succeeded());
    assertEquals(0xffff_fffeL, plain.bytes());
    assertFalse(plain.hasImmediate());
    assertEquals(0, plain.immediate(), "what is no immediate data is not told");

    IbvWc.WC_FLAGS.set(entries, 1, VerbsConstants.IBV_WC_WITH_IMM);
    assertEquals(5, read(WorkOperation.RECEIVE).immediate());
    IbvWc.OPCODE.set(entries, 1, VerbsConstants.IBV_WC_RECV_RDMA_WITH_IMM);
    assertEquals(WorkOperation.RECEIVE_OF_WRITE, read(WorkOperation.RECEIVE).operation());
    assertEquals(WorkOperation.READ, read(WorkOperation.READ).operation());
  }

  /** Of a failure a device tells the status, its own number and nothing else. */
  @ParameterizedTest
  @EnumSource(value = WcStatus.class, mode = EnumSource.Mode.EXCLUDE, names = "SUCCESS")
  void shouldSayWhatAFailureMeans(WcStatus status) {
    IbvWc.STATUS.set(entries, 1, status == WcStatus.UNKNOWN ? 99 : status.number());
    IbvWc.VENDOR_ERR.set(entries, 1, 0x77);
    IbvWc.OPCODE.set(entries, 1, 12345);
    IbvWc.BYTE_LEN.set(entries, 1, 6);
    for (WorkOperation operation :
        Stream.of(WorkOperation.SEND, WorkOperation.READ, WorkOperation.RECEIVE).toList()) {
      WorkCompletion failed = read(operation);
      assertFalse(failed.succeeded());
      assertEquals(0, failed.bytes());
      String text = failed.describe();
      assertTrue(text.startsWith(operation + " 7 ended with "), text);
      assertTrue(text.contains("vendor error 119: "), text);
      assertTrue(text.contains(status == WcStatus.UNKNOWN ? "99" : status.name()), text);
    }
  }
}
