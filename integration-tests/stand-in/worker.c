/* Executes work requests: when, by the model of a network card, and how, with all the checks of a real one. */
#include "standin.h"

#include <signal.h>
#include <string.h>
#include <sys/prctl.h>

#define SPIN_NS 5000

static pthread_mutex_t link_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t link_free; /* when the modelled link has sent all that was posted so far */

/*
 * When a request posted now will be complete. The link is shared by all queue pairs of the process; a queue pair has no
 * more than max_rd_atomic READs under way, so one waits for the end of the one that many places before it.
 */
uint64_t standin_schedule(struct standin_qp *qp, const struct standin_model *model, bool read, uint64_t bytes,
			  uint64_t delay)
{
	uint64_t now = model->instant && !delay ? 0 : standin_now();
	uint64_t due = now;

	if (model->latency_ns || model->ns_per_byte > 0) {
		uint64_t transfer = (uint64_t)((double)bytes * model->ns_per_byte);
		uint64_t depth = qp->max_rd_atomic ? qp->max_rd_atomic : 1;
		uint64_t *slot = read ? &qp->slot_due[qp->posted % depth] : NULL;
		uint64_t start = slot && *slot > now && *slot != STANDIN_NEVER ? *slot : now;
		pthread_mutex_lock(&link_lock);
		link_free = (link_free > now ? link_free : now) + transfer;
		due = link_free + model->latency_ns;
		pthread_mutex_unlock(&link_lock);
		if (due < start + transfer + model->latency_ns)
			due = start + transfer + model->latency_ns;
		if (slot)
			*slot = due;
	}
	due += delay;
	if (due < qp->last_due)
		due = qp->last_due;
	qp->last_due = due;
	return due;
}

/* What the queue pair of the peer must allow. */
static uint32_t access_of(const struct standin_send *send)
{
	switch (send->opcode) {
	case IBV_WR_RDMA_READ:
		return IBV_ACCESS_REMOTE_READ;
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		return IBV_ACCESS_REMOTE_WRITE;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		return IBV_ACCESS_REMOTE_ATOMIC;
	default:
		return 0;
	}
}

/* What the responder's side says before it looks at the memory. */
static int check_responder(const struct standin_qp *qp, uint32_t access, uint32_t *pd)
{
	const struct standin_table *table = qp->peer->table;
	const struct standin_qp_slot *slot = &table->qps[qp->peer_qp_num % STANDIN_MAX_QP];
	bool answers = access & (IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC);

	if (qp->peer->dead)
		return IBV_WC_REM_ACCESS_ERR; /* what Soft-RoCE was seen to answer when the process is killed */
	if (!standin_port_up() || table->port_state != IBV_PORT_ACTIVE || slot->qp_num != qp->peer_qp_num ||
	    slot->peer_qp_num != qp->qp.qp_num || slot->state != IBV_QPS_RTS)
		return IBV_WC_RETRY_EXC_ERR;
	if ((answers && !slot->max_dest_rd_atomic) || (slot->access & access) != access)
		return IBV_WC_REM_INV_REQ_ERR;
	*pd = slot->pd;
	return IBV_WC_SUCCESS;
}

static int execute_atomic(struct standin_qp *qp, const struct standin_send *send, const struct standin_range *range,
			  const struct ibv_sge *local)
{
	uint64_t before;
	int status = standin_remote_atomic(qp->peer, range, send, &before);

	if (!status)
		memcpy((void *)(uintptr_t)local->addr, &before, sizeof before);
	return status;
}

/* With all that is local in order. */
static int execute_remote(struct standin_qp *qp, const struct standin_send *send, const struct ibv_sge *local, int count)
{
	struct standin_range range = {.key = send->rkey, .from = send->remote_addr, .length = send->length,
				      .access = access_of(send)};
	int status = check_responder(qp, range.access, &range.pd);

	if (status)
		return status;
	switch (send->opcode) {
	case IBV_WR_RDMA_READ:
		return standin_remote_copy(qp->peer, &range, false, local, count, 0);
	case IBV_WR_RDMA_WRITE:
		return standin_remote_copy(qp->peer, &range, true, local, count, 0);
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		return execute_atomic(qp, send, &range, local);
	default:
		return standin_send_message(qp, send, local, count);
	}
}

static bool is_possible(const struct standin_qp *qp, const struct standin_send *send)
{
	switch (send->opcode) {
	case IBV_WR_RDMA_READ:
		return qp->max_rd_atomic;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		return qp->max_rd_atomic && standin_limits()->atomics && send->length == sizeof(uint64_t) &&
		       send->sges == 1;
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
	case IBV_WR_SEND:
	case IBV_WR_SEND_WITH_IMM:
		return true;
	default:
		return false;
	}
}

static int execute(struct standin_qp *qp, const struct standin_send *send, const struct ibv_sge *sges, uint8_t *inlined)
{
	struct ibv_sge local[32];
	int count = 0;
	int status = IBV_WC_SUCCESS;
	bool writes = access_of(send) & (IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC);

	if (send->status)
		return send->status;
	if (send->opcode == IBV_WR_RDMA_READ && standin_nocopy())
		return IBV_WC_SUCCESS;
	if (!is_possible(qp, send))
		return IBV_WC_LOC_QP_OP_ERR;
	if (send->length > standin_limits()->max_msg_sz)
		return IBV_WC_LOC_LEN_ERR;
	if (send->is_inline) {
		local[0] = (struct ibv_sge){.addr = (uintptr_t)inlined, .length = (uint32_t)send->length};
		return execute_remote(qp, send, local, 1);
	}
	for (int i = 0; i < send->sges && !status; i++) {
		local[count] = sges[i];
		if (!sges[i].length)
			continue;
		status = standin_local_pin(qp->qp.pd->handle, &sges[i], writes ? IBV_ACCESS_LOCAL_WRITE : 0,
					   &local[count].addr);
		if (!status)
			count++;
	}
	if (!status)
		status = execute_remote(qp, send, local, count);
	if (!status && count && send->corrupt)
		*(uint8_t *)local[0].addr ^= 0xff;
	for (int i = 0; i < count; i++)
		standin_local_unpin(local[i].lkey);
	return status;
}

static enum ibv_wc_opcode completion_of(enum ibv_wr_opcode opcode)
{
	switch (opcode) {
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		return IBV_WC_RDMA_WRITE;
	case IBV_WR_SEND:
	case IBV_WR_SEND_WITH_IMM:
		return IBV_WC_SEND;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
		return IBV_WC_COMP_SWAP;
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		return IBV_WC_FETCH_ADD;
	default:
		return IBV_WC_RDMA_READ;
	}
}

static void count_success(const struct standin_send *send)
{
	switch (completion_of(send->opcode)) {
	case IBV_WC_RDMA_WRITE:
		standin_count(STANDIN_N_WRITES, 1);
		standin_count(STANDIN_N_WRITE_BYTES, (int64_t)send->length);
		break;
	case IBV_WC_SEND:
		standin_count(STANDIN_N_SENDS, 1);
		standin_count(STANDIN_N_SEND_BYTES, (int64_t)send->length);
		break;
	case IBV_WC_COMP_SWAP:
	case IBV_WC_FETCH_ADD:
		standin_count(STANDIN_N_ATOMICS, 1);
		break;
	default:
		standin_count(STANDIN_N_READS, 1);
		standin_count(STANDIN_N_READ_BYTES, (int64_t)send->length);
	}
}

/* Under the queue pair's lock: an end of the oldest work request. */
static void complete(struct standin_qp *qp, int status)
{
	struct standin_send *send = &qp->ring[qp->done++ % qp->cap.max_send_wr];

	if (status == IBV_WC_WR_FLUSH_ERR) {
		standin_count(STANDIN_N_FLUSHED, 1);
	} else if (status) {
		standin_count(STANDIN_N_READ_ERRORS, 1);
	} else {
		count_success(send);
	}
	if (status && qp->qp.state != IBV_QPS_ERR)
		standin_set_state(qp, IBV_QPS_ERR);
	if (!status && !send->signalled)
		return;
	struct ibv_wc wc = {
		.wr_id = send->wr_id,
		.status = (enum ibv_wc_status)status,
		.opcode = completion_of(send->opcode),
		.byte_len = (uint32_t)send->length,
		.qp_num = qp->qp.qp_num,
	};
	standin_cq_push(qp->qp.send_cq, &wc, qp, qp->done, false);
}

/* The peer has posted no receive: the oldest request is tried again later, as often as the peer has asked for. */
static bool try_again(struct standin_qp *qp)
{
	standin_count(STANDIN_N_NOT_READY, 1);
	if (!qp->rnr_left || qp->done == qp->posted)
		return false;
	if (qp->rnr_left != STANDIN_RNR_FOREVER)
		qp->rnr_left--;
	qp->ring[qp->done % qp->cap.max_send_wr].due = standin_now() + standin_not_ready_ns(qp);
	return true;
}

uint64_t standin_qp_run(struct standin_qp *qp, uint64_t now, int budget)
{
	pthread_mutex_lock(&qp->run);
	pthread_mutex_lock(&qp->lock);
	for (;;) {
		if (qp->qp.state == IBV_QPS_ERR) {
			while (qp->done < qp->posted)
				complete(qp, IBV_WC_WR_FLUSH_ERR);
			standin_flush_receives(qp);
		}
		if (qp->done == qp->posted) {
			qp->next_due = STANDIN_NEVER;
			break;
		}
		uint64_t index = qp->done % qp->cap.max_send_wr;
		qp->next_due = qp->ring[index].due;
		if (qp->next_due > now || budget-- == 0)
			break;
		/* the entry cannot be reused before its end, so it may be read without the lock */
		pthread_mutex_unlock(&qp->lock);
		int status = execute(qp, &qp->ring[index], &qp->sges[index * qp->cap.max_send_sge],
				     &qp->inlines[index * qp->cap.max_inline_data]);
		pthread_mutex_lock(&qp->lock);
		if (status == STANDIN_NOT_READY) {
			if (try_again(qp))
				continue;
			status = IBV_WC_RNR_RETRY_EXC_ERR;
		}
		qp->rnr_left = qp->rnr_retry;
		if (qp->done < qp->posted)
			complete(qp, status);
	}
	uint64_t due = qp->next_due;
	pthread_mutex_unlock(&qp->lock);
	pthread_mutex_unlock(&qp->run);
	return due;
}

/* Sleeps until the time or a wake-up. A timer comes some microseconds late, so the last ones are spent on the clock. */
static void rest(struct standin_context *context, uint64_t now, uint64_t until)
{
	if (until == STANDIN_NEVER) {
		pthread_cond_wait(&context->wake, &context->lock);
	} else if (until - now <= SPIN_NS) {
		pthread_mutex_unlock(&context->lock);
		while (standin_now() < until)
			continue;
		pthread_mutex_lock(&context->lock);
	} else {
		uint64_t wake = until - SPIN_NS;
		struct timespec at = {(time_t)(wake / 1000000000u), (long)(wake % 1000000000u)};
		pthread_cond_timedwait(&context->wake, &context->lock, &at);
	}
}

static void *work(void *argument)
{
	struct standin_context *context = argument;

	prctl(PR_SET_NAME, "standin-worker");
	prctl(PR_SET_TIMERSLACK, 1000);
	pthread_mutex_lock(&context->lock);
	while (!context->stop) {
		struct standin_qp *best = NULL;
		uint64_t due = STANDIN_NEVER, now = standin_now();
		for (struct standin_qp *qp = context->qps; qp; qp = qp->next) {
			if (qp->next_due < due) {
				best = qp;
				due = qp->next_due;
			}
		}
		if (!best || due > now) {
			rest(context, now, due);
			continue;
		}
		best->references++;
		pthread_mutex_unlock(&context->lock);
		standin_qp_run(best, now, 16);
		pthread_mutex_lock(&context->lock);
		best->references--;
		pthread_cond_broadcast(&context->released);
	}
	pthread_mutex_unlock(&context->lock);
	return NULL;
}

int standin_worker_start(struct standin_context *context)
{
	pthread_condattr_t monotonic;
	sigset_t all, before;

	pthread_mutex_init(&context->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&context->wake, &monotonic);
	pthread_cond_init(&context->released, &monotonic);
	pthread_condattr_destroy(&monotonic);
	/* signals are for the threads of the program */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int error = pthread_create(&context->worker, NULL, work, context);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return error;
}

void standin_worker_wake(struct standin_context *context)
{
	pthread_mutex_lock(&context->lock);
	pthread_cond_signal(&context->wake);
	pthread_mutex_unlock(&context->lock);
}

void standin_worker_stop(struct standin_context *context)
{
	pthread_mutex_lock(&context->lock);
	context->stop = true;
	pthread_cond_signal(&context->wake);
	pthread_mutex_unlock(&context->lock);
	pthread_join(context->worker, NULL);
	pthread_cond_destroy(&context->wake);
	pthread_cond_destroy(&context->released);
	pthread_mutex_destroy(&context->lock);
}
