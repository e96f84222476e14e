/* Identifiers of the connection manager: their life, their device and their queue pair. */
#include "cm.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

pthread_mutex_t cm_lock = PTHREAD_MUTEX_INITIALIZER;
struct cm_id *cm_ids;

static pthread_mutex_t device_lock = PTHREAD_MUTEX_INITIALIZER;
static struct ibv_context *verbs; /* opened once for the life of the process, as the real library does */
static struct ibv_pd *default_pd;
static int default_pd_users;

int cm_error(int error)
{
	errno = error;
	return -1;
}

struct ibv_context *cm_verbs(void)
{
	pthread_mutex_lock(&device_lock);
	if (!verbs) {
		int count;
		struct ibv_device **list = ibv_get_device_list(&count);
		if (list && list[0])
			verbs = ibv_open_device(list[0]);
		else if (list)
			errno = ENODEV;
		int error = errno;
		if (list)
			ibv_free_device_list(list);
		errno = error;
	}
	struct ibv_context *opened = verbs;
	pthread_mutex_unlock(&device_lock);
	return opened;
}

struct ibv_context **rdma_get_devices(int *num_devices)
{
	struct ibv_context **list = calloc(2, sizeof *list);

	if (list)
		list[0] = cm_verbs();
	if (num_devices)
		*num_devices = list && list[0];
	return list;
}

void rdma_free_devices(struct ibv_context **list)
{
	free(list);
}

/* The device becomes known by the address that an identifier is bound to. */
void cm_attach(struct cm_id *id)
{
	if (id->id.verbs)
		return;
	id->id.verbs = verbs;
	id->id.port_num = STANDIN_PORT;
	if (default_pd_users++ == 0)
		default_pd = standin_pd_alloc(verbs);
	id->id.pd = default_pd;
}

static void detach(struct cm_id *id)
{
	if (id->id.verbs && --default_pd_users == 0)
		ibv_dealloc_pd(default_pd);
}

struct cm_id *cm_new(struct rdma_event_channel *channel, void *context, enum rdma_port_space space)
{
	static uint64_t serial;
	struct cm_id *id = calloc(1, sizeof *id);

	if (!id)
		return NULL;
	id->id.channel = channel;
	id->id.context = context;
	id->id.ps = space;
	id->id.qp_type = IBV_QPT_RC;
	id->serial = ++serial;
	id->sock = -1;
	id->next = cm_ids;
	cm_ids = id;
	standin_count(STANDIN_N_CM_IDS, 1);
	return id;
}

void cm_set_state(struct cm_id *id, enum cm_state state)
{
	if ((id->state == CM_CONNECTED) != (state == CM_CONNECTED))
		standin_count(STANDIN_N_CONNECTED, state == CM_CONNECTED ? 1 : -1);
	id->state = state;
}

int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **id, void *context,
		   enum rdma_port_space ps)
{
	/* without a channel the calls would be synchronous, which nobody here uses */
	if (!channel || ps != RDMA_PS_TCP)
		return cm_error(EOPNOTSUPP);
	pthread_mutex_lock(&cm_lock);
	struct cm_id *self = cm_new(channel, context, ps);
	pthread_mutex_unlock(&cm_lock);
	if (!self)
		return cm_error(ENOMEM);
	*id = &self->id;
	return 0;
}

static void forget(struct cm_id *id)
{
	for (struct cm_id **link = &cm_ids; *link; link = &(*link)->next) {
		if (*link == id) {
			*link = id->next;
			break;
		}
	}
	cm_goodbye(id);
	cm_set_state(id, CM_ENDED);
	cm_close(id);
}

static void release(struct cm_id *id)
{
	detach(id);
	free(id->id.route.path_rec);
	free(id);
	standin_count(STANDIN_N_CM_IDS, -1);
}

void cm_discard(struct cm_id *id)
{
	cm_drop_events(id);
	forget(id);
	release(id);
}

int rdma_destroy_id(struct rdma_cm_id *id)
{
	struct cm_id *self = (struct cm_id *)id, *child;

	pthread_mutex_lock(&cm_lock);
	forget(self);
	/* sockets that a request has not come through yet, and requests that nobody has seen yet */
	for (struct cm_id **link = &cm_ids; (child = *link);) {
		if (child->state == CM_INCOMING && child->listener == self) {
			cm_discard(child);
			link = &cm_ids;
		} else {
			link = &child->next;
		}
	}
	while ((child = cm_drop_events(self)))
		cm_discard(child);
	pthread_mutex_unlock(&cm_lock);
	cm_wait_acknowledged(self);
	pthread_mutex_lock(&cm_lock);
	release(self);
	pthread_mutex_unlock(&cm_lock);
	return 0;
}

int rdma_migrate_id(struct rdma_cm_id *id, struct rdma_event_channel *channel)
{
	struct cm_id *self = (struct cm_id *)id;

	if (!channel)
		return cm_error(EOPNOTSUPP);
	pthread_mutex_lock(&cm_lock);
	cm_move_events(self, (struct cm_channel *)channel);
	id->channel = channel;
	pthread_mutex_unlock(&cm_lock);
	cm_wait_acknowledged(self);
	return 0;
}

int rdma_create_qp(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_qp_init_attr *init)
{
	if (id->qp)
		return cm_error(EINVAL);
	if (!pd)
		pd = id->pd;
	/* queue pairs work only with what belongs to the context of the identifier */
	if (!pd || !id->verbs || pd->context != id->verbs)
		return cm_error(EINVAL);
	struct ibv_qp *qp = ibv_create_qp(pd, init);
	if (!qp)
		return -1;
	standin_qp_init(qp);
	pthread_mutex_lock(&cm_lock);
	id->pd = pd;
	id->qp = qp;
	id->send_cq = init->send_cq;
	id->recv_cq = init->recv_cq;
	id->send_cq_channel = init->send_cq->channel;
	id->recv_cq_channel = init->recv_cq->channel;
	pthread_mutex_unlock(&cm_lock);
	return 0;
}

void rdma_destroy_qp(struct rdma_cm_id *id)
{
	pthread_mutex_lock(&cm_lock);
	struct ibv_qp *qp = id->qp;
	id->qp = NULL;
	pthread_mutex_unlock(&cm_lock);
	if (qp)
		ibv_destroy_qp(qp);
}

int rdma_set_option(struct rdma_cm_id *id, int level, int optname, void *optval, size_t optlen)
{
	(void)id;
	if (level != RDMA_OPTION_ID || !optval)
		return cm_error(ENOSYS);
	switch (optname) {
	case RDMA_OPTION_ID_TOS:
	case RDMA_OPTION_ID_ACK_TIMEOUT:
		return optlen == sizeof(uint8_t) ? 0 : cm_error(EINVAL);
	case RDMA_OPTION_ID_REUSEADDR:
	case RDMA_OPTION_ID_AFONLY:
		return optlen == sizeof(int) ? 0 : cm_error(EINVAL);
	default:
		return cm_error(ENOSYS);
	}
}

int rdma_notify(struct rdma_cm_id *id, enum ibv_event_type event)
{
	(void)id;
	return event == IBV_EVENT_COMM_EST ? 0 : cm_error(EINVAL);
}
