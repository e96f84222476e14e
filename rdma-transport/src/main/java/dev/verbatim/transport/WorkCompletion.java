package dev.verbatim.transport;

import dev.verbatim.verbs.NativeEnum;
import dev.verbatim.verbs.WcStatus;

/**
 * The end of one request. When it is told, the device does not use the request's memory any more.
 *
 * @param id the number that the request was posted with
 * @param operation of the request; of a receive, what it was used for
 * @param status {@link WcStatus#SUCCESS}, or why it failed; {@link WcStatus#WR_FLUSH_ERR} where the
 *     connection ended before it could run
 * @param statusNumber of the status, also where it is not a known one
 * @param vendorError the driver's own number of a failure
 * @param bytes that came with a receive, or that a WRITE which used one up has written; otherwise 0
 * @param hasImmediate whether immediate data came with a receive
 * @param immediate these four bytes; otherwise 0
 */
public record WorkCompletion(
    long id,
    WorkOperation operation,
    WcStatus status,
    int statusNumber,
    int vendorError,
    long bytes,
    boolean hasImmediate,
    int immediate) {

  static WorkCompletion flushed(long id, WorkOperation operation) {
    WcStatus status = WcStatus.WR_FLUSH_ERR;
    return new WorkCompletion(id, operation, status, status.number(), 0, 0, false, 0);
  }

  public boolean succeeded() {
    return status == WcStatus.SUCCESS;
  }

  /** For messages: what happened, and what would help. */
  public String describe() {
    String ended =
        operation + " " + id + " ended with " + NativeEnum.describe(status, statusNumber);
    return succeeded()
        ? ended
        : ended + ", vendor error " + vendorError + ": " + meaning(operation, status);
  }

  private static String meaning(WorkOperation operation, WcStatus status) {
    return switch (status) {
      case RNR_RETRY_EXC_ERR ->
          "the peer had no receive posted after all tries; post receives earlier there, or raise"
              + " rnrRetry of the peer's EndpointConfig (7 tries for ever)";
      case RETRY_EXC_ERR, RESP_TIMEOUT_ERR ->
          "the peer does not answer: it, its port or the path is gone";
      case REM_ACCESS_ERR ->
          "the peer's memory does not allow it: wrong or stale RemoteMemory, or no MemoryAccess";
      case REM_INV_REQ_ERR ->
          operation == WorkOperation.SEND
              ? "the message is longer than the peer's receive"
              : "the peer's queue pair does not allow it, or the address is not aligned to 8 bytes";
      case REM_OP_ERR ->
          "the peer could not take it: its receive is shorter than the message, or its buffer closed";
      case LOC_LEN_ERR ->
          operation == WorkOperation.RECEIVE
              ? "the peer's message is longer than the receive"
              : "it is longer than the port's longest message";
      case LOC_PROT_ERR -> "a buffer is closed, or is not of the endpoint's group";
      case WR_FLUSH_ERR -> "the connection had ended";
      default -> "see ibv_poll_cq(3)";
    };
  }
}
