/* Completion queues and completion channels. */
#include "standin.h"

#include <stdlib.h>
#include <string.h>

/* One event of a completion channel. */
struct cq_event {
	struct standin_node node;
	struct standin_cq *cq;
};

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
	if ((errno = standin_fault_errno(STANDIN_CREATE_COMP_CHANNEL, NULL)))
		return NULL;
	struct standin_channel *channel = calloc(1, sizeof *channel);
	if (!channel || standin_queue_init(&channel->events)) {
		free(channel);
		return NULL;
	}
	channel->channel.context = context;
	channel->channel.fd = channel->events.fd;
	standin_count(STANDIN_N_COMP_CHANNELS, 1);
	return &channel->channel;
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *channel)
{
	struct standin_channel *self = (struct standin_channel *)channel;

	if (channel->refcnt)
		return EBUSY;
	standin_queue_destroy(&self->events);
	free(self);
	standin_count(STANDIN_N_COMP_CHANNELS, -1);
	return 0;
}

static pthread_mutex_t channel_lock = PTHREAD_MUTEX_INITIALIZER; /* refcnt of all channels */

static void use_channel(struct ibv_comp_channel *channel, int change)
{
	if (!channel)
		return;
	pthread_mutex_lock(&channel_lock);
	channel->refcnt += change;
	pthread_mutex_unlock(&channel_lock);
}

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context, struct ibv_comp_channel *channel,
			     int comp_vector)
{
	if (standin_device_dead())
		return errno = EIO, NULL;
	if ((errno = standin_fault_errno(STANDIN_CREATE_CQ, NULL)))
		return NULL;
	if (cqe < 1 || cqe > standin_limits()->max_cqe || comp_vector < 0 || comp_vector >= context->num_comp_vectors)
		return errno = EINVAL, NULL;
	struct standin_cq *cq = calloc(1, sizeof *cq);
	if (!cq || !(cq->ring = calloc((size_t)cqe, sizeof *cq->ring))) {
		free(cq);
		return NULL;
	}
	static _Atomic uint32_t handle;
	cq->capacity = (uint32_t)cqe;
	cq->cq.context = context;
	cq->cq.channel = channel;
	cq->cq.cq_context = cq_context;
	cq->cq.handle = ++handle;
	cq->cq.cqe = cqe;
	pthread_mutex_init(&cq->lock, NULL);
	pthread_mutex_init(&cq->cq.mutex, NULL);
	pthread_cond_init(&cq->cq.cond, NULL);
	use_channel(channel, 1);
	standin_count(STANDIN_N_CQS, 1);
	return &cq->cq;
}

int ibv_resize_cq(struct ibv_cq *cq, int cqe)
{
	struct standin_cq *self = (struct standin_cq *)cq;

	if (cqe < 1 || cqe > standin_limits()->max_cqe)
		return EINVAL;
	struct standin_cqe *ring = calloc((size_t)cqe, sizeof *ring);
	if (!ring)
		return ENOMEM;
	pthread_mutex_lock(&self->lock);
	uint64_t waiting = self->tail - self->head;
	if (waiting > (uint64_t)cqe) {
		pthread_mutex_unlock(&self->lock);
		free(ring);
		return EINVAL;
	}
	for (uint64_t i = 0; i < waiting; i++)
		ring[i] = self->ring[(self->head + i) % self->capacity];
	free(self->ring);
	self->ring = ring;
	self->capacity = (uint32_t)cqe;
	self->head = 0;
	self->tail = waiting;
	cq->cqe = cqe;
	pthread_mutex_unlock(&self->lock);
	return 0;
}

static bool is_of(struct standin_node *node, const void *cq)
{
	return ((struct cq_event *)node)->cq == cq;
}

int ibv_destroy_cq(struct ibv_cq *cq)
{
	struct standin_cq *self = (struct standin_cq *)cq;
	struct standin_node *event;

	if (self->users)
		return EBUSY;
	if (cq->channel) {
		struct standin_channel *channel = (struct standin_channel *)cq->channel;
		while ((event = standin_queue_remove(&channel->events, is_of, self)))
			free(event);
	}
	/* as the real library: waits until every event that was handed out is acknowledged */
	pthread_mutex_lock(&cq->mutex);
	while (cq->comp_events_completed != self->comp_events || cq->async_events_completed != self->async_events)
		pthread_cond_wait(&cq->cond, &cq->mutex);
	pthread_mutex_unlock(&cq->mutex);
	use_channel(cq->channel, -1);
	pthread_mutex_destroy(&self->lock);
	free(self->ring);
	free(self);
	standin_count(STANDIN_N_CQS, -1);
	return 0;
}

static void taken(struct standin_node *node)
{
	struct standin_cq *cq = ((struct cq_event *)node)->cq;

	pthread_mutex_lock(&cq->cq.mutex);
	cq->comp_events++;
	pthread_mutex_unlock(&cq->cq.mutex);
}

int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **cq_context)
{
	struct cq_event *event =
		(struct cq_event *)standin_queue_pop(&((struct standin_channel *)channel)->events, taken);

	if (!event)
		return -1;
	*cq = &event->cq->cq;
	*cq_context = event->cq->cq.cq_context;
	free(event);
	return 0;
}

void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int count)
{
	pthread_mutex_lock(&cq->mutex);
	cq->comp_events_completed += count;
	pthread_cond_broadcast(&cq->cond);
	pthread_mutex_unlock(&cq->mutex);
}

void standin_cq_push(struct ibv_cq *cq, const struct ibv_wc *wc, struct standin_qp *qp, uint64_t reclaim,
		     bool solicited)
{
	struct standin_cq *self = (struct standin_cq *)cq;
	bool overrun = false;

	pthread_mutex_lock(&self->lock);
	if (self->tail - self->head == self->capacity) {
		overrun = !self->overrun;
		self->overrun = true;
	} else {
		self->ring[self->tail++ % self->capacity] = (struct standin_cqe){*wc, qp, reclaim};
	}
	/* a failed completion always counts as solicited */
	if (self->armed == 1 || (self->armed == 2 && (solicited || wc->status != IBV_WC_SUCCESS))) {
		struct cq_event *event = cq->channel ? calloc(1, sizeof *event) : NULL;
		self->armed = 0;
		if (event) {
			event->cq = self;
			standin_queue_push(&((struct standin_channel *)cq->channel)->events, &event->node);
		}
	}
	pthread_mutex_unlock(&self->lock);
	if (overrun)
		standin_async_cq(cq);
}

/* Completions stay, as on Soft-RoCE, but no longer free entries of the queue pair's send queue. */
void standin_cq_forget(struct ibv_cq *cq, struct standin_qp *qp)
{
	struct standin_cq *self = (struct standin_cq *)cq;

	pthread_mutex_lock(&self->lock);
	for (uint64_t i = self->head; i < self->tail; i++)
		if (self->ring[i % self->capacity].qp == qp)
			self->ring[i % self->capacity].qp = NULL;
	pthread_mutex_unlock(&self->lock);
}

int standin_poll_cq(struct ibv_cq *cq, int count, struct ibv_wc *wc)
{
	struct standin_cq *self = (struct standin_cq *)cq;
	int polled = 0;

	pthread_mutex_lock(&self->lock);
	while (polled < count && self->head < self->tail) {
		struct standin_cqe *entry = &self->ring[self->head++ % self->capacity];
		wc[polled++] = entry->wc;
		if (entry->qp && entry->reclaim)
			entry->qp->reclaimed = entry->reclaim;
	}
	pthread_mutex_unlock(&self->lock);
	return polled;
}

int standin_req_notify_cq(struct ibv_cq *cq, int solicited_only)
{
	struct standin_cq *self = (struct standin_cq *)cq;

	pthread_mutex_lock(&self->lock);
	if (self->armed != 1)
		self->armed = solicited_only ? 2 : 1;
	pthread_mutex_unlock(&self->lock);
	return 0;
}
