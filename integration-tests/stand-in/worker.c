/* Executes work requests: when, by the model of a network card, and how, with all the checks of a real one. */
#include "standin.h"

#include <signal.h>
#include <string.h>
#include <sys/prctl.h>

#define SPIN_NS 5000

static pthread_mutex_t link_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t link_free; /* when the modelled link has sent all that was posted so far */

/*
 * When a READ posted now will be complete. The link is shared by all queue pairs of the process; a queue pair has no
 * more than max_rd_atomic READs under way, so one waits for the end of the one that many places before it.
 */
uint64_t standin_schedule(struct standin_qp *qp, const struct standin_model *model, uint64_t bytes, uint64_t delay)
{
	uint64_t now = model->instant && !delay ? 0 : standin_now();
	uint64_t due = now;

	if (model->latency_ns || model->ns_per_byte > 0) {
		uint64_t transfer = (uint64_t)((double)bytes * model->ns_per_byte);
		uint64_t depth = qp->max_rd_atomic ? qp->max_rd_atomic : 1;
		uint64_t *slot = &qp->slot_due[qp->posted % depth];
		uint64_t start = *slot > now && *slot != STANDIN_NEVER ? *slot : now;
		pthread_mutex_lock(&link_lock);
		link_free = (link_free > now ? link_free : now) + transfer;
		due = link_free + model->latency_ns;
		pthread_mutex_unlock(&link_lock);
		if (due < start + transfer + model->latency_ns)
			due = start + transfer + model->latency_ns;
		*slot = due;
	}
	due += delay;
	if (due < qp->last_due)
		due = qp->last_due;
	qp->last_due = due;
	return due;
}

/* What the responder's side says before it looks at the memory. */
static int check_responder(const struct standin_qp *qp, uint32_t *pd)
{
	const struct standin_table *table = qp->peer->table;
	const struct standin_qp_slot *slot = &table->qps[qp->peer_qp_num % STANDIN_MAX_QP];

	if (qp->peer->dead)
		return IBV_WC_REM_ACCESS_ERR; /* what Soft-RoCE was seen to answer when the process is killed */
	if (!standin_port_up() || table->port_state != IBV_PORT_ACTIVE || slot->qp_num != qp->peer_qp_num ||
	    slot->peer_qp_num != qp->qp.qp_num || slot->state != IBV_QPS_RTS)
		return IBV_WC_RETRY_EXC_ERR;
	if (!slot->max_dest_rd_atomic || !(slot->access & IBV_ACCESS_REMOTE_READ))
		return IBV_WC_REM_INV_REQ_ERR;
	*pd = slot->pd;
	return IBV_WC_SUCCESS;
}

static int execute(struct standin_qp *qp, const struct standin_send *send, const struct ibv_sge *sges)
{
	struct ibv_sge local[32];
	uint32_t pd;
	int pinned = 0;

	if (send->status)
		return send->status;
	if (standin_nocopy())
		return IBV_WC_SUCCESS;
	if (!send->is_read || !qp->max_rd_atomic)
		return IBV_WC_LOC_QP_OP_ERR;
	if (send->length > standin_limits()->max_msg_sz)
		return IBV_WC_LOC_LEN_ERR;
	int status = check_responder(qp, &pd);
	for (int i = 0; i < send->sges && !status; i++) {
		local[pinned] = sges[i];
		if (!sges[i].length)
			continue;
		status = standin_local_pin(qp->qp.pd->handle, &sges[i], &local[pinned].addr);
		if (!status)
			pinned++;
	}
	if (!status)
		status = standin_remote_copy(qp->peer, pd, send->rkey, send->remote_addr, local, pinned);
	if (!status && pinned && send->corrupt)
		*(uint8_t *)local[0].addr ^= 0xff;
	for (int i = 0; i < pinned; i++)
		standin_local_unpin(local[i].lkey);
	return status;
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
		standin_count(STANDIN_N_READS, 1);
		standin_count(STANDIN_N_READ_BYTES, (int64_t)send->length);
	}
	if (status && qp->qp.state != IBV_QPS_ERR)
		standin_set_state(qp, IBV_QPS_ERR);
	if (!status && !send->signalled)
		return;
	struct ibv_wc wc = {
		.wr_id = send->wr_id,
		.status = (enum ibv_wc_status)status,
		.opcode = IBV_WC_RDMA_READ,
		.byte_len = (uint32_t)send->length,
		.qp_num = qp->qp.qp_num,
	};
	standin_cq_push(qp->qp.send_cq, &wc, qp, qp->done);
}

static void flush_receives(struct standin_qp *qp)
{
	while (qp->recv_done < qp->recv_posted) {
		struct ibv_wc wc = {
			.wr_id = qp->recvs[qp->recv_done++ % qp->cap.max_recv_wr],
			.status = IBV_WC_WR_FLUSH_ERR,
			.opcode = IBV_WC_RECV,
			.qp_num = qp->qp.qp_num,
		};
		standin_cq_push(qp->qp.recv_cq, &wc, NULL, 0);
	}
}

uint64_t standin_qp_run(struct standin_qp *qp, uint64_t now, int budget)
{
	pthread_mutex_lock(&qp->run);
	pthread_mutex_lock(&qp->lock);
	for (;;) {
		if (qp->qp.state == IBV_QPS_ERR) {
			while (qp->done < qp->posted)
				complete(qp, IBV_WC_WR_FLUSH_ERR);
			flush_receives(qp);
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
		int status = execute(qp, &qp->ring[index], &qp->sges[index * qp->cap.max_send_sge]);
		pthread_mutex_lock(&qp->lock);
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
