/* Queue pairs: creation, states, and posting to their send and receive queues. */
#include "standin.h"

#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* allocation of slots in the table */
static uint32_t next_slot;
static uint32_t generation;

static struct standin_qp_slot *take_slot(struct standin_qp *qp)
{
	struct standin_table *table = standin_own_table();
	struct standin_qp_slot *found = NULL;

	pthread_mutex_lock(&lock);
	for (uint32_t i = 0; i < (uint32_t)standin_limits()->max_qp && !found; i++) {
		uint32_t index = next_slot++ % (uint32_t)standin_limits()->max_qp;
		if (table->qps[index].qp_num)
			continue;
		/* 12 bits of generation above the slot's number: a stale number does not match a new queue pair */
		generation = (generation + 1) % 0xfff;
		found = &table->qps[index];
		if (!found->ready) {
			standin_shared_lock_init(&found->lock);
			found->ready = 1;
		}
		standin_shared_lock(&found->lock);
		found->pd = qp->qp.pd->handle;
		found->state = IBV_QPS_RESET;
		found->peer_qp_num = 0;
		found->min_rnr_timer = 0;
		found->receives = (uintptr_t)qp->receives;
		found->receive_sges = (uintptr_t)qp->receive_sges;
		found->receive_capacity = qp->cap.max_recv_wr;
		found->receive_max_sge = qp->cap.max_recv_sge;
		found->receives_posted = found->receives_arrived = 0;
		found->qp_num = (generation + 1) * STANDIN_MAX_QP + index;
		pthread_mutex_unlock(&found->lock);
	}
	pthread_mutex_unlock(&lock);
	return found;
}

static bool valid(const struct ibv_pd *pd, const struct ibv_qp_init_attr *init)
{
	const struct standin_limits *limits = standin_limits();
	const struct ibv_qp_cap *cap = &init->cap;

	return init->qp_type == IBV_QPT_RC && init->send_cq && init->recv_cq && !init->srq &&
	       init->send_cq->context == pd->context && init->recv_cq->context == pd->context &&
	       cap->max_send_wr <= (uint32_t)limits->max_qp_wr && cap->max_recv_wr <= (uint32_t)limits->max_qp_wr &&
	       cap->max_send_sge <= (uint32_t)limits->max_sge && cap->max_recv_sge <= (uint32_t)limits->max_sge &&
	       cap->max_inline_data <= (uint32_t)limits->max_inline;
}

static void release(struct standin_qp *qp)
{
	free(qp->ring);
	free(qp->sges);
	free(qp->receives);
	free(qp->receive_sges);
	free(qp->inlines);
	free(qp);
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *init)
{
	if (standin_device_dead())
		return errno = EIO, NULL;
	if ((errno = standin_fault_errno(STANDIN_CREATE_QP, NULL)))
		return NULL;
	if (!valid(pd, init))
		return errno = EINVAL, NULL;
	struct standin_qp *qp = calloc(1, sizeof *qp);
	if (!qp)
		return NULL;
	qp->cap = init->cap;
	qp->ring = calloc(qp->cap.max_send_wr + 1, sizeof *qp->ring);
	qp->sges = calloc((size_t)qp->cap.max_send_wr * qp->cap.max_send_sge + 1, sizeof *qp->sges);
	qp->inlines = calloc((size_t)qp->cap.max_send_wr * qp->cap.max_inline_data + 1, 1);
	qp->receives = calloc(qp->cap.max_recv_wr + 1, sizeof *qp->receives);
	qp->receive_sges = calloc((size_t)qp->cap.max_recv_wr * qp->cap.max_recv_sge + 1, sizeof *qp->receive_sges);
	qp->qp.pd = pd;
	if (!qp->ring || !qp->sges || !qp->inlines || !qp->receives || !qp->receive_sges ||
	    !(qp->shared = take_slot(qp))) {
		release(qp);
		return errno = ENOMEM, NULL;
	}
	qp->qp.context = pd->context;
	qp->qp.qp_context = init->qp_context;
	qp->qp.send_cq = init->send_cq;
	qp->qp.recv_cq = init->recv_cq;
	qp->qp.qp_num = qp->shared->qp_num;
	qp->qp.handle = qp->qp.qp_num % STANDIN_MAX_QP;
	qp->qp.state = IBV_QPS_RESET;
	qp->qp.qp_type = init->qp_type;
	qp->signal_all = init->sq_sig_all;
	qp->next_due = STANDIN_NEVER;
	pthread_mutex_init(&qp->run, NULL);
	pthread_mutex_init(&qp->lock, NULL);
	pthread_mutex_init(&qp->qp.mutex, NULL);
	pthread_cond_init(&qp->qp.cond, NULL);
	((struct standin_pd *)pd)->users++;
	((struct standin_cq *)init->send_cq)->users++;
	((struct standin_cq *)init->recv_cq)->users++;
	struct standin_context *context = standin_context_of(pd->context);
	pthread_mutex_lock(&context->lock);
	qp->next = context->qps;
	context->qps = qp;
	pthread_mutex_unlock(&context->lock);
	standin_count(STANDIN_N_QPS, 1);
	return &qp->qp;
}

int ibv_destroy_qp(struct ibv_qp *ibqp)
{
	struct standin_qp *qp = (struct standin_qp *)ibqp;
	struct standin_context *context = standin_context_of(ibqp->context);

	pthread_mutex_lock(&context->lock);
	for (struct standin_qp **link = &context->qps; *link; link = &(*link)->next) {
		if (*link == qp) {
			*link = qp->next;
			break;
		}
	}
	while (qp->references)
		pthread_cond_wait(&context->released, &context->lock);
	pthread_mutex_unlock(&context->lock);
	standin_shared_lock(&qp->shared->lock); /* no peer fills an entry of the receive queue any more */
	qp->shared->state = IBV_QPS_RESET;
	qp->shared->qp_num = 0;
	pthread_mutex_unlock(&qp->shared->lock);
	standin_cq_forget(ibqp->send_cq, qp);
	standin_cq_forget(ibqp->recv_cq, qp);
	((struct standin_pd *)ibqp->pd)->users--;
	((struct standin_cq *)ibqp->send_cq)->users--;
	((struct standin_cq *)ibqp->recv_cq)->users--;
	standin_peer_put(qp->peer);
	release(qp);
	standin_count(STANDIN_N_QPS, -1);
	return 0;
}

/* Under the queue pair's lock. */
void standin_set_state(struct standin_qp *qp, enum ibv_qp_state state)
{
	qp->qp.state = state;
	qp->shared->state = state;
	if (state == IBV_QPS_ERR)
		qp->next_due = 0; /* the worker flushes */
	if (state == IBV_QPS_RESET) {
		qp->posted = qp->done = qp->reclaimed = qp->receives_done = 0;
		qp->shared->receives_posted = qp->shared->receives_arrived = 0;
		qp->next_due = STANDIN_NEVER;
	}
}

static int change_state(struct standin_qp *qp, enum ibv_qp_state state)
{
	enum ibv_qp_state from = qp->qp.state;

	if (state == IBV_QPS_ERR || state == IBV_QPS_RESET || (state == IBV_QPS_INIT && from == IBV_QPS_RESET) ||
	    (state == from && state != IBV_QPS_RTR)) {
		standin_set_state(qp, state);
		return 0;
	}
	/* a peer is found by the connection manager only: the way to RTR by hand does not exist here */
	return state == IBV_QPS_RTR || state == IBV_QPS_RTS ? EOPNOTSUPP : EINVAL;
}

int ibv_modify_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int mask)
{
	struct standin_qp *qp = (struct standin_qp *)ibqp;
	int error = 0;

	pthread_mutex_lock(&qp->lock);
	standin_take_arrivals(qp); /* a message that was acknowledged is never flushed */
	if (mask & IBV_QP_STATE)
		error = change_state(qp, attr->qp_state);
	if (!error && (mask & IBV_QP_ACCESS_FLAGS))
		qp->shared->access = qp->qp_access = attr->qp_access_flags;
	if (!error && (mask & IBV_QP_MIN_RNR_TIMER))
		qp->shared->min_rnr_timer = attr->min_rnr_timer & 31;
	pthread_mutex_unlock(&qp->lock);
	standin_worker_wake(standin_context_of(ibqp->context));
	return error;
}

int ibv_query_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int mask, struct ibv_qp_init_attr *init)
{
	struct standin_qp *qp = (struct standin_qp *)ibqp;

	(void)mask;
	memset(attr, 0, sizeof *attr);
	memset(init, 0, sizeof *init);
	pthread_mutex_lock(&qp->lock);
	attr->qp_state = attr->cur_qp_state = ibqp->state;
	attr->path_mtu = IBV_MTU_4096;
	attr->dest_qp_num = qp->peer_qp_num;
	attr->qp_access_flags = qp->qp_access;
	attr->cap = qp->cap;
	attr->max_rd_atomic = (uint8_t)qp->max_rd_atomic;
	attr->max_dest_rd_atomic = (uint8_t)qp->shared->max_dest_rd_atomic;
	attr->port_num = STANDIN_PORT;
	attr->retry_cnt = 6;
	attr->rnr_retry = qp->rnr_retry;
	attr->min_rnr_timer = (uint8_t)qp->shared->min_rnr_timer;
	pthread_mutex_unlock(&qp->lock);
	init->qp_context = ibqp->qp_context;
	init->send_cq = ibqp->send_cq;
	init->recv_cq = ibqp->recv_cq;
	init->cap = qp->cap;
	init->qp_type = ibqp->qp_type;
	init->sq_sig_all = qp->signal_all;
	return 0;
}

void standin_qp_init(struct ibv_qp *ibqp)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT};

	ibv_modify_qp(ibqp, &attr, IBV_QP_STATE);
}

int standin_qp_connect(struct ibv_qp *ibqp, const struct standin_connection *connection)
{
	struct standin_qp *qp = (struct standin_qp *)ibqp;
	struct standin_peer *peer = standin_peer_get(&connection->peer);

	if (!peer)
		return ESRCH;
	pthread_mutex_lock(&qp->lock);
	if (ibqp->state != IBV_QPS_INIT) {
		pthread_mutex_unlock(&qp->lock);
		standin_peer_put(peer);
		return EINVAL;
	}
	standin_peer_put(qp->peer);
	qp->peer = peer;
	qp->peer_port = connection->peer_port;
	qp->peer_qp_num = connection->peer_qp_num;
	qp->max_rd_atomic = connection->max_rd_atomic < STANDIN_MAX_RD_ATOM ? connection->max_rd_atomic
									    : STANDIN_MAX_RD_ATOM;
	qp->qp_access = IBV_ACCESS_REMOTE_WRITE | (connection->max_dest_rd_atomic ? IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC : 0);
	qp->rnr_retry = qp->rnr_left = connection->rnr_retry;
	qp->shared->peer_qp_num = connection->peer_qp_num;
	qp->shared->max_dest_rd_atomic = connection->max_dest_rd_atomic;
	qp->shared->access = qp->qp_access;
	standin_set_state(qp, IBV_QPS_RTS);
	pthread_mutex_unlock(&qp->lock);
	return 0;
}

void standin_qp_error(struct ibv_qp *ibqp)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};

	ibv_modify_qp(ibqp, &attr, IBV_QP_STATE);
}

void standin_qp_peer_died(struct ibv_qp *ibqp)
{
	struct standin_qp *qp = (struct standin_qp *)ibqp;

	if (qp->peer && qp->peer->table != standin_own_table())
		qp->peer->dead = true;
}

/* Inline data are taken when they are posted; their key is of no matter. */
static bool take_inline(struct standin_qp *qp, struct standin_send *send, const struct ibv_send_wr *wr, uint64_t index)
{
	uint8_t *into = &qp->inlines[index * qp->cap.max_inline_data];

	if (send->length > qp->cap.max_inline_data ||
	    (wr->opcode != IBV_WR_SEND && wr->opcode != IBV_WR_SEND_WITH_IMM && wr->opcode != IBV_WR_RDMA_WRITE &&
	     wr->opcode != IBV_WR_RDMA_WRITE_WITH_IMM))
		return false;
	for (int i = 0; i < wr->num_sge; i++) {
		memcpy(into, (void *)(uintptr_t)wr->sg_list[i].addr, wr->sg_list[i].length);
		into += wr->sg_list[i].length;
	}
	send->is_inline = true;
	return true;
}

/* Copies one work request into the ring; under the queue pair's lock. */
static int enqueue(struct standin_qp *qp, const struct ibv_send_wr *wr, const struct standin_model *model)
{
	struct standin_hit hit = {0};

	if (qp->posted - qp->reclaimed >= qp->cap.max_send_wr)
		return ENOMEM;
	if (wr->num_sge < 0 || (uint32_t)wr->num_sge > qp->cap.max_send_sge)
		return EINVAL;
	uint64_t index = qp->posted % qp->cap.max_send_wr;
	struct standin_send *send = &qp->ring[index];
	memset(send, 0, sizeof *send);
	for (int i = 0; i < wr->num_sge; i++) {
		qp->sges[index * qp->cap.max_send_sge + (uint64_t)i] = wr->sg_list[i];
		send->length += wr->sg_list[i].length;
	}
	send->wr_id = wr->wr_id;
	send->sges = wr->num_sge;
	send->opcode = wr->opcode;
	send->signalled = qp->signal_all || (wr->send_flags & IBV_SEND_SIGNALED);
	send->solicited = wr->send_flags & IBV_SEND_SOLICITED;
	send->imm = wr->imm_data;
	send->remote_addr = wr->wr.rdma.remote_addr;
	send->rkey = wr->wr.rdma.rkey;
	if (wr->opcode == IBV_WR_ATOMIC_CMP_AND_SWP || wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		send->remote_addr = wr->wr.atomic.remote_addr;
		send->rkey = wr->wr.atomic.rkey;
		send->compare_add = wr->wr.atomic.compare_add;
		send->swap = wr->wr.atomic.swap;
	}
	if ((wr->send_flags & IBV_SEND_INLINE) && !take_inline(qp, send, wr, index))
		return EINVAL;
	bool read = send->opcode == IBV_WR_RDMA_READ;
	if (read) {
		struct standin_match match = {.bytes = send->length, .peer_port = qp->peer_port};
		standin_faults_check(STANDIN_READ, &match, &hit);
	}
	send->status = hit.status;
	send->corrupt = hit.corrupt;
	send->due = hit.drop ? STANDIN_NEVER : standin_schedule(qp, model, read, send->length, hit.delay_ns);
	qp->posted++;
	return 0;
}

int standin_post_send(struct ibv_qp *ibqp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	struct standin_qp *qp = (struct standin_qp *)ibqp;
	struct standin_model model = standin_current_model();
	uint64_t due = 0;
	int error = 0;

	if (!model.instant) {
		standin_faults_refresh();
		model = standin_current_model();
	}
	struct standin_hit hit = {0};
	struct standin_match match = {.peer_port = qp->peer_port};
	standin_faults_check(STANDIN_POST_SEND, &match, &hit);
	if (hit.error) {
		*bad = wr;
		return hit.error;
	}
	pthread_mutex_lock(&qp->lock);
	if (ibqp->state != IBV_QPS_RTS && ibqp->state != IBV_QPS_ERR)
		error = EINVAL;
	for (; !error && wr; wr = error ? wr : wr->next)
		error = enqueue(qp, wr, &model);
	if (qp->done < qp->posted) {
		due = ibqp->state == IBV_QPS_ERR ? 0 : qp->ring[qp->done % qp->cap.max_send_wr].due;
		qp->next_due = due;
	}
	pthread_mutex_unlock(&qp->lock);
	standin_count(STANDIN_N_DOORBELLS, 1);
	if (model.instant)
		due = standin_qp_run(qp, standin_now(), INT32_MAX);
	if (!model.instant || due != STANDIN_NEVER)
		standin_worker_wake(standin_context_of(ibqp->context));
	if (error)
		*bad = wr;
	return error;
}

int standin_post_recv(struct ibv_qp *ibqp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	struct standin_qp *qp = (struct standin_qp *)ibqp;
	int error = 0;

	standin_arrivals_start();
	pthread_mutex_lock(&qp->lock);
	if (ibqp->state == IBV_QPS_RESET)
		error = EINVAL;
	while (!error && wr) {
		uint64_t posted = qp->shared->receives_posted;
		if (posted - qp->receives_done >= qp->cap.max_recv_wr)
			error = ENOMEM;
		else if (wr->num_sge < 0 || (uint32_t)wr->num_sge > qp->cap.max_recv_sge)
			error = EINVAL;
		else {
			uint64_t index = posted % qp->cap.max_recv_wr;
			qp->receives[index] = (struct standin_receive){.wr_id = wr->wr_id, .sges = wr->num_sge};
			for (int i = 0; i < wr->num_sge; i++)
				qp->receive_sges[index * qp->cap.max_recv_sge + (uint64_t)i] = wr->sg_list[i];
			qp->shared->receives_posted = posted + 1;
			wr = wr->next;
		}
	}
	if (ibqp->state == IBV_QPS_ERR)
		qp->next_due = 0;
	pthread_mutex_unlock(&qp->lock);
	standin_worker_wake(standin_context_of(ibqp->context));
	if (error)
		*bad = wr;
	return error;
}
