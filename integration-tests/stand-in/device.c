/* The one device, its contexts and their async events. */
#include "standin.h"

#include <endian.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GUID UINT64_C(0x0200c0fffe000001)

static struct ibv_device device = {
	.node_type = IBV_NODE_CA,
	.transport_type = IBV_TRANSPORT_IB,
	.name = "standin0",
	.dev_name = "uverbs-standin0",
	.dev_path = "/sys/class/infiniband_verbs/uverbs-standin0",
	.ibdev_path = "/sys/class/infiniband/standin0",
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct standin_context *contexts;
static uint32_t next_number;

struct async_event {
	struct standin_node node;
	struct ibv_async_event event;
};

struct ibv_device **ibv_get_device_list(int *num_devices)
{
	if (num_devices)
		*num_devices = 0;
	if ((errno = standin_fault_errno(STANDIN_GET_DEVICE_LIST, NULL)))
		return NULL;
	struct ibv_device **list = calloc(2, sizeof *list);
	if (list && !standin_device_absent()) {
		list[0] = &device;
		if (num_devices)
			*num_devices = 1;
	}
	return list;
}

void ibv_free_device_list(struct ibv_device **list)
{
	free(list);
}

const char *ibv_get_device_name(struct ibv_device *ibdev)
{
	return ibdev->name;
}

int ibv_get_device_index(struct ibv_device *ibdev)
{
	(void)ibdev;
	return 0;
}

__be64 ibv_get_device_guid(struct ibv_device *ibdev)
{
	(void)ibdev;
	return htobe64(GUID);
}

/* Other processes look for the marker to learn that the address has a device. */
static void mark_address(void)
{
	char path[4096];
	const uint8_t *bytes = standin_address()->s6_addr;
	int used = snprintf(path, sizeof path, "%s/addresses/", standin_directory());

	for (int i = 0; i < 16; i++)
		used += snprintf(path + used, sizeof path - (size_t)used, "%02x", bytes[i]);
	int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	if (fd >= 0)
		close(fd);
}

static int query_port(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr, size_t size)
{
	struct ibv_port_attr all = {
		.max_mtu = IBV_MTU_4096,
		.active_mtu = IBV_MTU_4096,
		.gid_tbl_len = 4,
		.port_cap_flags = IBV_PORT_CM_SUP | IBV_PORT_IP_BASED_GIDS,
		.max_msg_sz = standin_limits()->max_msg_sz,
		.pkey_tbl_len = 1,
		.max_vl_num = 1,
		.active_width = 2, /* 4 lanes */
		.active_speed = 32, /* of 25 Gbit/s each */
		.link_layer = IBV_LINK_LAYER_ETHERNET,
	};

	(void)context;
	if (port != STANDIN_PORT)
		return EINVAL;
	standin_faults_refresh();
	all.state = standin_port_up() ? IBV_PORT_ACTIVE : IBV_PORT_DOWN;
	all.phys_state = standin_port_up() ? 5 : 3; /* link up, disabled */
	memset(attr, 0, size);
	memcpy(attr, &all, size < sizeof all ? size : sizeof all);
	return 0;
}

int ibv_query_port(struct ibv_context *context, uint8_t port, struct _compat_ibv_port_attr *attr)
{
	/* the exported function knows only the first version of the struct */
	return query_port(context, port, (struct ibv_port_attr *)attr, offsetof(struct ibv_port_attr, port_cap_flags2));
}

struct ibv_context *ibv_open_device(struct ibv_device *ibdev)
{
	if ((errno = standin_fault_errno(STANDIN_OPEN_DEVICE, NULL)))
		return NULL;
	if (standin_device_dead())
		return errno = EIO, NULL;
	if (!standin_own_table())
		return errno = ENOMEM, NULL;
	struct standin_context *self = calloc(1, sizeof *self);
	if (!self)
		return NULL;
	if (standin_queue_init(&self->async)) {
		free(self);
		return NULL;
	}
	int cmd_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	struct ibv_context *context = &self->verbs.context;
	context->device = ibdev;
	context->cmd_fd = cmd_fd;
	context->async_fd = self->async.fd;
	context->num_comp_vectors = 4;
	context->abi_compat = __VERBS_ABI_IS_EXTENDED;
	context->ops.poll_cq = standin_poll_cq;
	context->ops.req_notify_cq = standin_req_notify_cq;
	context->ops.post_send = standin_post_send;
	context->ops.post_recv = standin_post_recv;
	pthread_mutex_init(&context->mutex, NULL);
	self->verbs.sz = sizeof self->verbs;
	self->verbs.query_port = query_port;
	if (standin_worker_start(self)) {
		standin_queue_destroy(&self->async);
		close(cmd_fd);
		free(self);
		return errno = EAGAIN, NULL;
	}
	pthread_mutex_lock(&lock);
	self->number = ++next_number & 0xffff;
	self->next = contexts;
	contexts = self;
	pthread_mutex_unlock(&lock);
	mark_address();
	standin_count(STANDIN_N_CONTEXTS, 1);
	standin_monitor_start();
	return context;
}

int ibv_close_device(struct ibv_context *context)
{
	struct standin_context *self = standin_context_of(context);

	pthread_mutex_lock(&lock);
	for (struct standin_context **link = &contexts; *link; link = &(*link)->next) {
		if (*link == self) {
			*link = self->next;
			break;
		}
	}
	pthread_mutex_unlock(&lock);
	standin_worker_stop(self);
	if (self->pds)
		standin_memory_forget(self->number);
	standin_queue_destroy(&self->async);
	close(context->cmd_fd);
	pthread_mutex_destroy(&context->mutex);
	free(self);
	standin_count(STANDIN_N_CONTEXTS, -1);
	standin_counters_write();
	return 0;
}

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
	const struct standin_limits *limits = standin_limits();

	(void)context;
	if (standin_device_dead())
		return EIO;
	*attr = (struct ibv_device_attr){
		.fw_ver = "1.0.0-standin",
		.node_guid = htobe64(GUID),
		.sys_image_guid = htobe64(GUID),
		.max_mr_size = limits->max_mr_size,
		.page_size_cap = 0xfffff000,
		.vendor_id = 0xffffff,
		.max_qp = limits->max_qp,
		.max_qp_wr = limits->max_qp_wr,
		.max_sge = limits->max_sge,
		.max_sge_rd = limits->max_sge,
		.max_cq = limits->max_cq,
		.max_cqe = limits->max_cqe,
		.max_mr = limits->max_mr,
		.max_pd = 0xffff,
		.max_qp_rd_atom = limits->max_rd_atom,
		.max_res_rd_atom = limits->max_rd_atom * limits->max_qp,
		.max_qp_init_rd_atom = limits->max_rd_atom,
		.atomic_cap = limits->atomics ? IBV_ATOMIC_HCA : IBV_ATOMIC_NONE,
		.max_pkeys = 1,
		.phys_port_cnt = 1,
	};
	return 0;
}

static void deliver(struct standin_context *context, struct ibv_async_event event)
{
	struct async_event *entry = calloc(1, sizeof *entry);

	if (!entry)
		return;
	entry->event = event;
	standin_queue_push(&context->async, &entry->node);
}

static bool shares_queue(const struct standin_qp *first, const struct standin_qp *qp)
{
	while (first != qp && first->qp.send_cq != qp->qp.send_cq)
		first = first->next;
	return first != qp;
}

/* Events of queues name each queue pair, or completion queue of a queue pair. */
void standin_async_event(enum ibv_event_type type, uint8_t port)
{
	pthread_mutex_lock(&lock);
	for (struct standin_context *context = contexts; context; context = context->next) {
		struct ibv_async_event event = {.element.port_num = port, .event_type = type};
		switch (type) {
		case IBV_EVENT_CQ_ERR:
			pthread_mutex_lock(&context->lock);
			for (struct standin_qp *qp = context->qps; qp; qp = qp->next)
				if (!shares_queue(context->qps, qp))
					standin_async_cq(qp->qp.send_cq);
			pthread_mutex_unlock(&context->lock);
			break;
		case IBV_EVENT_QP_FATAL:
		case IBV_EVENT_QP_REQ_ERR:
		case IBV_EVENT_QP_ACCESS_ERR:
		case IBV_EVENT_COMM_EST:
		case IBV_EVENT_SQ_DRAINED:
		case IBV_EVENT_PATH_MIG:
		case IBV_EVENT_PATH_MIG_ERR:
		case IBV_EVENT_QP_LAST_WQE_REACHED:
			pthread_mutex_lock(&context->lock);
			for (struct standin_qp *qp = context->qps; qp; qp = qp->next) {
				event.element.qp = &qp->qp;
				deliver(context, event);
			}
			pthread_mutex_unlock(&context->lock);
			break;
		default:
			deliver(context, event);
		}
	}
	pthread_mutex_unlock(&lock);
}

void standin_async_all(enum ibv_event_type type)
{
	pthread_mutex_lock(&lock);
	for (struct standin_context *context = contexts; context; context = context->next)
		deliver(context, (struct ibv_async_event){.element.port_num = STANDIN_PORT, .event_type = type});
	pthread_mutex_unlock(&lock);
}

void standin_async_cq(struct ibv_cq *cq)
{
	pthread_mutex_lock(&cq->mutex);
	((struct standin_cq *)cq)->async_events++;
	pthread_mutex_unlock(&cq->mutex);
	deliver(standin_context_of(cq->context),
		(struct ibv_async_event){.element.cq = cq, .event_type = IBV_EVENT_CQ_ERR});
}

/* A message has come for a queue pair of this process: whoever it is takes it. */
void standin_contexts_arrived(void)
{
	pthread_mutex_lock(&lock);
	for (struct standin_context *context = contexts; context; context = context->next) {
		pthread_mutex_lock(&context->lock);
		for (struct standin_qp *qp = context->qps; qp; qp = qp->next) {
			pthread_mutex_lock(&qp->lock);
			standin_take_arrivals(qp);
			pthread_mutex_unlock(&qp->lock);
		}
		pthread_cond_signal(&context->wake);
		pthread_mutex_unlock(&context->lock);
	}
	pthread_mutex_unlock(&lock);
}

/* A device that failed: all its queue pairs flush. */
void standin_contexts_fail(void)
{
	pthread_mutex_lock(&lock);
	for (struct standin_context *context = contexts; context; context = context->next) {
		pthread_mutex_lock(&context->lock);
		for (struct standin_qp *qp = context->qps; qp; qp = qp->next) {
			pthread_mutex_lock(&qp->lock);
			standin_set_state(qp, IBV_QPS_ERR);
			pthread_mutex_unlock(&qp->lock);
		}
		pthread_cond_signal(&context->wake);
		pthread_mutex_unlock(&context->lock);
	}
	pthread_mutex_unlock(&lock);
}

static void taken(struct standin_node *node)
{
	(void)node;
}

int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
	struct async_event *entry = (struct async_event *)standin_queue_pop(&standin_context_of(context)->async, taken);

	if (!entry)
		return -1;
	*event = entry->event;
	free(entry);
	return 0;
}

void ibv_ack_async_event(struct ibv_async_event *event)
{
	if (event->event_type != IBV_EVENT_CQ_ERR)
		return;
	struct ibv_cq *cq = event->element.cq;
	pthread_mutex_lock(&cq->mutex);
	cq->async_events_completed++;
	pthread_cond_broadcast(&cq->cond);
	pthread_mutex_unlock(&cq->mutex);
}
