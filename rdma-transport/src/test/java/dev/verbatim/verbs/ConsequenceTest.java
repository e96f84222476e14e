package dev.verbatim.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The tables that say what follows from each status and event, written out a second time. */
class ConsequenceTest {

  @ParameterizedTest
  @CsvSource({
    "0, SUCCESS, NONE",
    "1, LOC_LEN_ERR, OUR_FAULT",
    "2, LOC_QP_OP_ERR, OUR_FAULT",
    "3, LOC_EEC_OP_ERR, OUR_FAULT",
    "4, LOC_PROT_ERR, OUR_FAULT",
    "5, WR_FLUSH_ERR, CONNECTION_LOST",
    "6, MW_BIND_ERR, OUR_FAULT",
    "7, BAD_RESP_ERR, CONNECTION_LOST",
    "8, LOC_ACCESS_ERR, OUR_FAULT",
    "9, REM_INV_REQ_ERR, PEER_REFUSED",
    "10, REM_ACCESS_ERR, PEER_REFUSED",
    "11, REM_OP_ERR, PEER_REFUSED",
    "12, RETRY_EXC_ERR, PEER_UNREACHABLE",
    "13, RNR_RETRY_EXC_ERR, PEER_UNREACHABLE",
    "14, LOC_RDD_VIOL_ERR, OUR_FAULT",
    "15, REM_INV_RD_REQ_ERR, PEER_REFUSED",
    "16, REM_ABORT_ERR, CONNECTION_LOST",
    "17, INV_EECN_ERR, OUR_FAULT",
    "18, INV_EEC_STATE_ERR, OUR_FAULT",
    "19, FATAL_ERR, DEVICE_FAILED",
    "20, RESP_TIMEOUT_ERR, PEER_UNREACHABLE",
    "21, GENERAL_ERR, CONNECTION_LOST",
    "22, TM_ERR, OUR_FAULT",
    "23, TM_RNDV_INCOMPLETE, OUR_FAULT",
    "24, UNKNOWN, CONNECTION_LOST",
    "-1, UNKNOWN, CONNECTION_LOST",
  })
  void shouldDecideWhatFollowsWhenRequestEnds(
      int number, WcStatus status, WcStatus.Consequence consequence) {
    assertSame(status, WcStatus.of(number));
    assertSame(consequence, status.consequence());
  }

  @ParameterizedTest
  @EnumSource(WcStatus.class)
  void shouldNeverCallFailureSuccessWhenRequestEnds(WcStatus status) {
    if (status != WcStatus.SUCCESS) {
      assertNotEquals(WcStatus.Consequence.NONE, status.consequence());
    }
  }

  @ParameterizedTest
  @CsvSource({
    "0, ADDR_RESOLVED, PROGRESS",
    "1, ADDR_ERROR, CONNECT_FAILED",
    "2, ROUTE_RESOLVED, PROGRESS",
    "3, ROUTE_ERROR, CONNECT_FAILED",
    "4, CONNECT_REQUEST, INCOMING",
    "5, CONNECT_RESPONSE, PROGRESS",
    "6, CONNECT_ERROR, CONNECT_FAILED",
    "7, UNREACHABLE, CONNECT_FAILED",
    "8, REJECTED, CONNECT_FAILED",
    "9, ESTABLISHED, ESTABLISHED",
    "10, DISCONNECTED, DISCONNECTED",
    "11, DEVICE_REMOVAL, DEVICE_REMOVED",
    "12, MULTICAST_JOIN, IGNORED",
    "13, MULTICAST_ERROR, IGNORED",
    "14, ADDR_CHANGE, DISCONNECTED",
    "15, TIMEWAIT_EXIT, IGNORED",
    "16, UNKNOWN, IGNORED",
    "17, UNKNOWN, IGNORED",
  })
  void shouldDecideWhatFollowsWhenCmEventComes(
      int number, CmEventType event, CmEventType.Consequence consequence) {
    assertSame(event, CmEventType.of(number));
    assertSame(consequence, event.consequence());
  }

  @ParameterizedTest
  @CsvSource({
    "0, CQ_ERR, CQ, DEVICE_FAILED",
    "1, QP_FATAL, QP, CONNECTION_LOST",
    "2, QP_REQ_ERR, QP, CONNECTION_LOST",
    "3, QP_ACCESS_ERR, QP, CONNECTION_LOST",
    "4, COMM_EST, QP, NONE",
    "5, SQ_DRAINED, QP, NONE",
    "6, PATH_MIG, QP, NONE",
    "7, PATH_MIG_ERR, QP, NONE",
    "8, DEVICE_FATAL, DEVICE, DEVICE_FAILED",
    "9, PORT_ACTIVE, PORT, PORT_UP",
    "10, PORT_ERR, PORT, PORT_DOWN",
    "11, LID_CHANGE, PORT, ADDRESS_CHANGED",
    "12, PKEY_CHANGE, PORT, NONE",
    "13, SM_CHANGE, PORT, NONE",
    "14, SRQ_ERR, SRQ, NONE",
    "15, SRQ_LIMIT_REACHED, SRQ, NONE",
    "16, QP_LAST_WQE_REACHED, QP, NONE",
    "17, CLIENT_REREGISTER, PORT, NONE",
    "18, GID_CHANGE, PORT, ADDRESS_CHANGED",
    "19, WQ_FATAL, WQ, NONE",
    "20, UNKNOWN, OTHER, NONE",
  })
  void shouldDecideWhatFollowsWhenAsyncEventComes(
      int number,
      AsyncEventType event,
      AsyncEventType.Scope scope,
      AsyncEventType.Consequence consequence) {
    assertSame(event, AsyncEventType.of(number));
    assertSame(scope, event.scope());
    assertSame(consequence, event.consequence());
  }

  @ParameterizedTest
  @ValueSource(ints = {-1, 6, 255, Integer.MAX_VALUE, Integer.MIN_VALUE})
  void shouldAnswerUnknownWhenNumberIsNotKnown(int number) {
    assertSame(PortState.UNKNOWN, PortState.of(number));
    assertSame(LinkLayer.UNKNOWN, LinkLayer.of(number));
    assertSame(GidType.UNKNOWN, GidType.of(number));
    assertSame(TransportType.UNKNOWN, TransportType.of(number));
    assertSame(Mtu.UNKNOWN, Mtu.of(number));
    assertEquals(0, Mtu.of(number).bytes());
  }

  @Test
  void shouldNameNumberWhenStatusIsDescribed() {
    assertEquals("RETRY_EXC_ERR (12)", NativeEnum.describe(WcStatus.of(12), 12));
    assertEquals("UNKNOWN (77)", NativeEnum.describe(WcStatus.of(77), 77));
  }

  @ParameterizedTest
  @CsvSource({
    "1, 1, SDR, 1, 2.5",
    "2, 2, DDR, 4, 20",
    "4, 2, QDR, 4, 40",
    "8, 2, FDR10, 4, 40",
    "16, 2, FDR, 4, 56",
    "32, 2, EDR, 4, 100",
    "64, 16, HDR, 2, 100",
    "128, 2, NDR, 4, 400",
    "256, 4, XDR, 8, 1600",
    "32, 8, EDR, 12, 300",
    "3, 2, speed 3, 4, 0",
    "32, 3, EDR, 0, 0",
    "0, 0, speed 0, 0, 0",
  })
  void shouldDecodeRateWhenPortReportsIt(
      int speed, int width, String name, int lanes, double gigabits) {
    assertEquals(new LinkRate(name, lanes, gigabits), LinkRate.of(speed, width));
  }
}
