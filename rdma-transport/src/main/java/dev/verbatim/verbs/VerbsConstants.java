package dev.verbatim.verbs;

/** Flags and numbers of {@code infiniband/verbs.h} and {@code rdma/rdma_cma.h}, named as there. */
public final class VerbsConstants {
  public static final int IBV_ACCESS_LOCAL_WRITE = 1;
  public static final int IBV_ACCESS_REMOTE_WRITE = 1 << 1;
  public static final int IBV_ACCESS_REMOTE_READ = 1 << 2;

  public static final int IBV_ACCESS_REMOTE_ATOMIC = 1 << 3;

  /** Value of {@code atomic_cap}: the device has no atomic operations. */
  public static final int IBV_ATOMIC_NONE = 0;

  public static final int IBV_QPT_RC = 2;

  public static final int IBV_WR_RDMA_WRITE = 0;
  public static final int IBV_WR_RDMA_WRITE_WITH_IMM = 1;
  public static final int IBV_WR_SEND = 2;
  public static final int IBV_WR_SEND_WITH_IMM = 3;
  public static final int IBV_WR_RDMA_READ = 4;
  public static final int IBV_WR_ATOMIC_CMP_AND_SWP = 5;
  public static final int IBV_WR_ATOMIC_FETCH_AND_ADD = 6;

  public static final int IBV_SEND_FENCE = 1;
  public static final int IBV_SEND_SIGNALED = 1 << 1;
  public static final int IBV_SEND_SOLICITED = 1 << 2;
  public static final int IBV_SEND_INLINE = 1 << 3;

  public static final int IBV_WC_SEND = 0;
  public static final int IBV_WC_RDMA_WRITE = 1;
  public static final int IBV_WC_RDMA_READ = 2;
  public static final int IBV_WC_RECV = 1 << 7;
  public static final int IBV_WC_RECV_RDMA_WITH_IMM = IBV_WC_RECV + 1;

  /** In {@code wc_flags}: the completion carries immediate data. */
  public static final int IBV_WC_WITH_IMM = 1 << 1;

  public static final int IBV_QP_STATE = 1;
  public static final int IBV_QP_CUR_STATE = 1 << 1;
  public static final int IBV_QP_ACCESS_FLAGS = 1 << 3;
  public static final int IBV_QP_PKEY_INDEX = 1 << 4;
  public static final int IBV_QP_PORT = 1 << 5;
  public static final int IBV_QP_AV = 1 << 7;
  public static final int IBV_QP_PATH_MTU = 1 << 8;
  public static final int IBV_QP_TIMEOUT = 1 << 9;
  public static final int IBV_QP_RETRY_CNT = 1 << 10;
  public static final int IBV_QP_RNR_RETRY = 1 << 11;
  public static final int IBV_QP_RQ_PSN = 1 << 12;
  public static final int IBV_QP_MAX_QP_RD_ATOMIC = 1 << 13;
  public static final int IBV_QP_MIN_RNR_TIMER = 1 << 15;
  public static final int IBV_QP_SQ_PSN = 1 << 16;
  public static final int IBV_QP_MAX_DEST_RD_ATOMIC = 1 << 17;
  public static final int IBV_QP_CAP = 1 << 19;
  public static final int IBV_QP_DEST_QPN = 1 << 20;

  public static final int RDMA_PS_TCP = 0x0106;

  public static final int RDMA_OPTION_ID = 0;

  /** Value: {@code uint8_t}. */
  public static final int RDMA_OPTION_ID_TOS = 0;

  /** Value: {@code int}. */
  public static final int RDMA_OPTION_ID_REUSEADDR = 1;

  /** Value: {@code int}. */
  public static final int RDMA_OPTION_ID_AFONLY = 2;

  /** Value: {@code uint8_t}, the exponent of 4.096 us * 2^n. */
  public static final int RDMA_OPTION_ID_ACK_TIMEOUT = 3;

  /** Most READs that RDMA CM can negotiate for serving. */
  public static final int RDMA_MAX_RESP_RES = 0xff;

  /** Most READs that RDMA CM can negotiate for initiating. */
  public static final int RDMA_MAX_INIT_DEPTH = 0xff;

  private VerbsConstants() {}
}
