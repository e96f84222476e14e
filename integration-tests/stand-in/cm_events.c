/* Event channels of the connection manager. */
#include "cm.h"

#include <stdlib.h>
#include <string.h>

struct cm_event {
	struct standin_node node;
	struct rdma_cm_event event;
	uint8_t data[CM_REP_DATA];
};

static pthread_mutex_t ack_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t acknowledged = PTHREAD_COND_INITIALIZER;

struct rdma_event_channel *rdma_create_event_channel(void)
{
	if (!cm_verbs())
		return NULL;
	if (cm_wire_start())
		return NULL;
	struct cm_channel *channel = calloc(1, sizeof *channel);
	if (!channel || standin_queue_init(&channel->events)) {
		free(channel);
		return NULL;
	}
	channel->channel.fd = channel->events.fd;
	standin_count(STANDIN_N_CM_CHANNELS, 1);
	return &channel->channel;
}

void rdma_destroy_event_channel(struct rdma_event_channel *channel)
{
	standin_queue_destroy(&((struct cm_channel *)channel)->events);
	free(channel);
	standin_count(STANDIN_N_CM_CHANNELS, -1);
}

/* A connect request is an event of the listener: it is there that it must be acknowledged. */
static struct cm_id *owner(const struct rdma_cm_event *event)
{
	return (struct cm_id *)(event->event == RDMA_CM_EVENT_CONNECT_REQUEST ? event->listen_id : event->id);
}

void cm_post(struct cm_id *id, struct cm_id *listener, enum rdma_cm_event_type type, int status,
	     const struct cm_message *message, uint8_t data_length)
{
	struct cm_event *entry = calloc(1, sizeof *entry);

	if (!entry)
		return;
	entry->event.id = &id->id;
	entry->event.listen_id = listener ? &listener->id : NULL;
	entry->event.event = type;
	entry->event.status = status;
	if (message) {
		struct rdma_conn_param *conn = &entry->event.param.conn;
		/* in the receiver's view */
		conn->responder_resources = message->initiator_depth;
		conn->initiator_depth = message->responder_resources;
		conn->flow_control = message->flow_control;
		conn->retry_count = message->retry_count;
		conn->rnr_retry_count = message->rnr_retry_count;
		conn->qp_num = message->qp_num;
		memcpy(entry->data, message->data, data_length);
		conn->private_data = data_length ? entry->data : NULL;
		conn->private_data_len = data_length;
	}
	standin_queue_push(&((struct cm_channel *)(listener ? listener : id)->id.channel)->events, &entry->node);
}

static bool is_of(struct standin_node *node, const void *id)
{
	return owner(&((struct cm_event *)node)->event) == id;
}

/* Also finds the connect request, whose owner is the listener. */
static bool mentions(struct standin_node *node, const void *id)
{
	return is_of(node, id) || (const void *)((struct cm_event *)node)->event.id == id;
}

struct cm_id *cm_drop_events(struct cm_id *id)
{
	struct cm_channel *channel = (struct cm_channel *)id->id.channel;
	struct cm_event *entry;

	while ((entry = (struct cm_event *)standin_queue_remove(&channel->events, mentions, id))) {
		bool request = entry->event.event == RDMA_CM_EVENT_CONNECT_REQUEST;
		struct cm_id *child = (struct cm_id *)entry->event.id;
		free(entry);
		if (request && child != id)
			return child;
	}
	return NULL;
}

void cm_move_events(struct cm_id *id, struct cm_channel *to)
{
	struct cm_channel *from = (struct cm_channel *)id->id.channel;
	struct standin_node *node;

	while (from != to && (node = standin_queue_remove(&from->events, is_of, id)))
		standin_queue_push(&to->events, node);
}

void cm_wait_acknowledged(struct cm_id *id)
{
	pthread_mutex_lock(&ack_lock);
	while (id->delivered != id->acknowledged)
		pthread_cond_wait(&acknowledged, &ack_lock);
	pthread_mutex_unlock(&ack_lock);
}

static void taken(struct standin_node *node)
{
	pthread_mutex_lock(&ack_lock);
	owner(&((struct cm_event *)node)->event)->delivered++;
	pthread_mutex_unlock(&ack_lock);
}

int rdma_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **event)
{
	if (!event)
		return cm_error(EINVAL);
	struct standin_node *node = standin_queue_pop(&((struct cm_channel *)channel)->events, taken);
	if (!node)
		return -1;
	*event = &((struct cm_event *)node)->event;
	return 0;
}

int rdma_ack_cm_event(struct rdma_cm_event *event)
{
	if (!event)
		return cm_error(EINVAL);
	pthread_mutex_lock(&ack_lock);
	owner(event)->acknowledged++;
	pthread_cond_broadcast(&acknowledged);
	pthread_mutex_unlock(&ack_lock);
	free(STANDIN_OF(event, struct cm_event, event));
	return 0;
}

const char *rdma_event_str(enum rdma_cm_event_type event)
{
	static const char *const names[] = {
		"RDMA_CM_EVENT_ADDR_RESOLVED",	  "RDMA_CM_EVENT_ADDR_ERROR",	    "RDMA_CM_EVENT_ROUTE_RESOLVED",
		"RDMA_CM_EVENT_ROUTE_ERROR",	  "RDMA_CM_EVENT_CONNECT_REQUEST",  "RDMA_CM_EVENT_CONNECT_RESPONSE",
		"RDMA_CM_EVENT_CONNECT_ERROR",	  "RDMA_CM_EVENT_UNREACHABLE",	    "RDMA_CM_EVENT_REJECTED",
		"RDMA_CM_EVENT_ESTABLISHED",	  "RDMA_CM_EVENT_DISCONNECTED",	    "RDMA_CM_EVENT_DEVICE_REMOVAL",
		"RDMA_CM_EVENT_MULTICAST_JOIN",	  "RDMA_CM_EVENT_MULTICAST_ERROR",  "RDMA_CM_EVENT_ADDR_CHANGE",
		"RDMA_CM_EVENT_TIMEWAIT_EXIT",
	};
	return (unsigned)event < sizeof names / sizeof *names ? names[event] : "UNKNOWN EVENT";
}
