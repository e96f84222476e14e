/* Receive queues: how a message finds the entry of the peer's queue, and how the peer's process learns of it. */
#include "standin.h"

#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Delays of the codes of IB_QP_MIN_RNR_TIMER, in units of 10 us. */
static const uint32_t not_ready[32] = {65536, 1,   2,	3,   4,	  6,	8,    12,   16,	  24,	32,
				       48,    64,  96,	128, 192, 256,	384,  512,  768,  1024, 1536,
				       2048,  3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152};

static struct standin_qp_slot *slot_of_peer(const struct standin_qp *qp)
{
	return &qp->peer->table->qps[qp->peer_qp_num % STANDIN_MAX_QP];
}

uint64_t standin_not_ready_ns(const struct standin_qp *qp)
{
	return not_ready[slot_of_peer(qp)->min_rnr_timer & 31] * UINT64_C(10000);
}

static bool has_immediate(const struct standin_send *send)
{
	return send->opcode == IBV_WR_SEND_WITH_IMM || send->opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
}

/* Scatters a message over the memory of a receive; what the receiver's completion says. */
static int scatter(struct standin_qp *qp, const struct standin_qp_slot *slot, const struct ibv_sge *into, int entries,
		   const struct standin_send *send, const struct ibv_sge *local, int count)
{
	uint64_t offset = 0;

	for (int i = 0; i < entries && offset < send->length; i++) {
		uint64_t left = send->length - offset;
		struct standin_range range = {.pd = slot->pd, .key = into[i].lkey, .from = into[i].addr,
					      .length = into[i].length < left ? into[i].length : left,
					      .access = IBV_ACCESS_LOCAL_WRITE};
		if (standin_remote_copy(qp->peer, &range, true, local, count, offset))
			return IBV_WC_LOC_PROT_ERR;
		offset += range.length;
	}
	return offset < send->length ? IBV_WC_LOC_LEN_ERR : IBV_WC_SUCCESS;
}

/* What the sender is told of a receive that failed. */
static int told(int status)
{
	switch (status) {
	case IBV_WC_SUCCESS:
		return IBV_WC_SUCCESS;
	case IBV_WC_LOC_LEN_ERR:
		return IBV_WC_REM_INV_REQ_ERR;
	default:
		return IBV_WC_REM_OP_ERR;
	}
}

/* Under the lock of the peer's slot. */
static int fill(struct standin_qp *qp, struct standin_qp_slot *slot, const struct standin_send *send,
		const struct ibv_sge *local, int count)
{
	uint64_t next = slot->receives_arrived;
	struct standin_receive entry;
	struct ibv_sge into[32];
	bool write = send->opcode == IBV_WR_RDMA_WRITE_WITH_IMM;

	if (slot->qp_num != qp->peer_qp_num || slot->state != IBV_QPS_RTS)
		return IBV_WC_RETRY_EXC_ERR;
	if (next == slot->receives_posted)
		return STANDIN_NOT_READY;
	uint64_t index = next % slot->receive_capacity;
	uint64_t there = slot->receives + index * sizeof entry;
	uint64_t list = slot->receive_sges + index * slot->receive_max_sge * sizeof *into;
	if (!standin_peer_copy(qp->peer, &entry, there, sizeof entry, false) ||
	    !standin_peer_copy(qp->peer, into, list, (uint64_t)entry.sges * sizeof *into, false))
		return IBV_WC_REM_OP_ERR;
	if (write) {
		struct standin_range range = {.pd = slot->pd, .key = send->rkey, .from = send->remote_addr,
					      .length = send->length, .access = IBV_ACCESS_REMOTE_WRITE};
		int status = standin_remote_copy(qp->peer, &range, true, local, count, 0);
		if (status)
			return status;
	}
	entry.status = write ? IBV_WC_SUCCESS : scatter(qp, slot, into, entry.sges, send, local, count);
	entry.opcode = write ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV;
	entry.bytes = (uint32_t)send->length;
	entry.imm = send->imm;
	entry.flags = has_immediate(send) ? IBV_WC_WITH_IMM : 0;
	entry.solicited = send->solicited;
	if (!standin_peer_copy(qp->peer, &entry, there, sizeof entry, true))
		return IBV_WC_REM_OP_ERR;
	slot->receives_arrived = next + 1;
	return told(entry.status);
}

int standin_send_message(struct standin_qp *qp, const struct standin_send *send, const struct ibv_sge *local, int count)
{
	struct standin_qp_slot *slot = slot_of_peer(qp);
	struct standin_table *table = qp->peer->table;

	if (standin_shared_lock(&slot->lock))
		return IBV_WC_RETRY_EXC_ERR;
	uint64_t before = slot->receives_arrived;
	int status = fill(qp, slot, send, local, count);
	bool arrived = slot->receives_arrived != before;
	pthread_mutex_unlock(&slot->lock);
	if (arrived) {
		table->arrivals++;
		syscall(SYS_futex, &table->arrivals, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
	}
	return status;
}

/* Under the queue pair's lock: completions of what has come. */
void standin_take_arrivals(struct standin_qp *qp)
{
	uint64_t arrived = qp->shared->receives_arrived;

	while (qp->receives_done < arrived) {
		struct standin_receive *entry = &qp->receives[qp->receives_done++ % qp->cap.max_recv_wr];
		struct ibv_wc wc = {
			.wr_id = entry->wr_id,
			.status = (enum ibv_wc_status)entry->status,
			.opcode = (enum ibv_wc_opcode)entry->opcode,
			.byte_len = entry->bytes,
			.imm_data = entry->imm,
			.wc_flags = entry->flags,
			.qp_num = qp->qp.qp_num,
			.src_qp = qp->peer_qp_num,
		};
		if (entry->status && qp->qp.state != IBV_QPS_ERR)
			standin_set_state(qp, IBV_QPS_ERR);
		standin_count(STANDIN_N_RECEIVES, !entry->status);
		standin_cq_push(qp->qp.recv_cq, &wc, NULL, 0, entry->solicited);
	}
}

/* Under the queue pair's lock, and in the error state: no peer takes an entry any more. */
void standin_flush_receives(struct standin_qp *qp)
{
	standin_shared_lock(&qp->shared->lock);
	standin_take_arrivals(qp);
	while (qp->receives_done < qp->shared->receives_posted) {
		struct ibv_wc wc = {
			.wr_id = qp->receives[qp->receives_done++ % qp->cap.max_recv_wr].wr_id,
			.status = IBV_WC_WR_FLUSH_ERR,
			.opcode = IBV_WC_RECV,
			.qp_num = qp->qp.qp_num,
		};
		standin_cq_push(qp->qp.recv_cq, &wc, NULL, 0, false);
	}
	qp->shared->receives_arrived = qp->receives_done;
	pthread_mutex_unlock(&qp->shared->lock);
}

static void *watch(void *argument)
{
	struct standin_table *table = argument;

	prctl(PR_SET_NAME, "standin-arrival");
	for (;;) {
		uint32_t seen = table->arrivals;
		standin_contexts_arrived();
		syscall(SYS_futex, &table->arrivals, FUTEX_WAIT, seen, NULL, NULL, 0);
	}
	return NULL;
}

static void start(void)
{
	sigset_t all, before;
	pthread_t thread;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (!pthread_create(&thread, NULL, watch, standin_own_table()))
		pthread_detach(thread);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* With the first receive: a process that only READs has no such thread. */
void standin_arrivals_start(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, start);
}
