/* Connecting, accepting, rejecting and ending: the calls, and what a message of the peer means. */
#include "cm.h"

#include <string.h>
#include <sys/un.h>

static uint8_t at_most(uint8_t asked, uint8_t automatic)
{
	uint8_t limit = (uint8_t)standin_limits()->max_rd_atom;

	asked = asked == RDMA_MAX_RESP_RES ? automatic : asked;
	return asked < limit ? asked : limit;
}

static bool valid(const struct rdma_conn_param *param, uint8_t room)
{
	int limit = standin_limits()->max_rd_atom;

	return param->private_data_len <= room && (param->private_data || !param->private_data_len) &&
	       (param->responder_resources == RDMA_MAX_RESP_RES || param->responder_resources <= limit) &&
	       (param->initiator_depth == RDMA_MAX_INIT_DEPTH || param->initiator_depth <= limit);
}

static struct cm_message fill(enum cm_message_type type, const struct rdma_conn_param *param)
{
	struct cm_message message = {.type = type};

	if (!param)
		return message;
	message.responder_resources = param->responder_resources;
	message.initiator_depth = param->initiator_depth;
	message.retry_count = param->retry_count;
	message.rnr_retry_count = param->rnr_retry_count;
	message.flow_control = param->flow_control;
	message.qp_num = param->qp_num;
	if (param->private_data_len)
		memcpy(message.data, param->private_data, param->private_data_len);
	return message;
}

static int connect_qp(struct cm_id *id, uint8_t initiator_depth, uint8_t responder_resources, __be16 peer_port)
{
	struct standin_connection connection = {
		.peer = id->remote.from,
		.peer_qp_num = id->remote.qp_num,
		.max_rd_atomic = initiator_depth,
		.max_dest_rd_atomic = responder_resources,
		.peer_port = ntohs(peer_port),
		.rnr_retry = id->remote.rnr_retry_count, /* each side says how often the other one repeats */
	};
	return id->id.qp ? standin_qp_connect(id->id.qp, &connection) : 0;
}

int rdma_listen(struct rdma_cm_id *id, int backlog)
{
	struct cm_id *self = (struct cm_id *)id;
	int error = standin_fault_errno(STANDIN_LISTEN, NULL);

	pthread_mutex_lock(&cm_lock);
	if (!error && self->state == CM_IDLE) {
		struct sockaddr_in any = {.sin_family = AF_INET};
		error = cm_reserve(self, (struct sockaddr *)&any);
		if (!error)
			cm_set_state(self, CM_BOUND);
	}
	if (!error && self->state != CM_BOUND)
		error = EINVAL;
	if (!error && listen(self->sock, backlog > 0 ? backlog : 128))
		error = errno;
	if (!error) {
		cm_set_state(self, CM_LISTENING);
		cm_watch(self);
	}
	pthread_mutex_unlock(&cm_lock);
	return error ? cm_error(error) : 0;
}

/* A fault stands for the answer. */
static void refuse(struct cm_id *self, const struct standin_hit *hit)
{
	struct cm_message nothing = {0};

	cm_set_state(self, CM_ENDED);
	if (hit->cm == STANDIN_CM_REJECT)
		cm_post(self, NULL, RDMA_CM_EVENT_REJECTED, hit->status, &nothing, CM_REJ_DATA);
	else
		cm_post(self, NULL, RDMA_CM_EVENT_UNREACHABLE, hit->status, NULL, 0);
}

/* Sends the request; an unanswerable one is an event, not an error. */
static void request(struct cm_id *self, const struct rdma_conn_param *param)
{
	struct cm_message message = fill(CM_REQ, param);
	uint8_t limit = (uint8_t)standin_limits()->max_rd_atom;
	struct sockaddr_in6 target = cm_canonical(&self->id.route.addr.dst_addr);
	struct sockaddr_un name;
	socklen_t length = cm_name(target.sin6_addr, ntohs(target.sin6_port), &name);

	message.address = cm_canonical(&self->id.route.addr.src_addr);
	message.responder_resources = param ? at_most(param->responder_resources, limit) : limit;
	message.initiator_depth = param ? at_most(param->initiator_depth, limit) : limit;
	cm_set_state(self, CM_REQUESTING);
	if (!standin_port_up()) {
		cm_set_state(self, CM_ENDED);
		cm_post(self, NULL, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT, NULL, 0);
	} else if (connect(self->sock, (struct sockaddr *)&name, length) || cm_send(self, &message)) {
		struct cm_message nothing = {0};
		bool full = errno == EAGAIN;
		cm_set_state(self, CM_ENDED);
		if (full)
			cm_post(self, NULL, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT, NULL, 0);
		else
			cm_post(self, NULL, RDMA_CM_EVENT_REJECTED, CM_REJ_NO_LISTENER, &nothing, CM_REJ_DATA);
	} else {
		cm_watch(self);
	}
}

int rdma_connect(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
	struct cm_id *self = (struct cm_id *)id;
	struct standin_match match = {.peer_port = ntohs(rdma_get_dst_port(id))};
	struct standin_hit hit = {0};

	standin_faults_refresh();
	standin_faults_check(STANDIN_CONNECT, &match, &hit);
	pthread_mutex_lock(&cm_lock);
	int error = hit.error;
	if (!error && (self->state != CM_ROUTE_RESOLVED || (param && !valid(param, CM_REQ_DATA))))
		error = EINVAL;
	if (!error && hit.cm == STANDIN_CM_SILENT)
		cm_set_state(self, CM_REQUESTING);
	else if (!error && hit.cm)
		refuse(self, &hit);
	else if (!error)
		request(self, param);
	pthread_mutex_unlock(&cm_lock);
	return error ? cm_error(error) : 0;
}

int rdma_accept(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
	struct cm_id *self = (struct cm_id *)id;
	int error = standin_fault_errno(STANDIN_ACCEPT, NULL);

	pthread_mutex_lock(&cm_lock);
	if (!error && (self->state != CM_REQUESTED || (param && !valid(param, CM_REP_DATA))))
		error = EINVAL;
	if (!error) {
		struct cm_message message = fill(CM_REP, param);
		const struct cm_message *asked = &self->remote;
		/* by default what the request asked for, seen from this side */
		message.responder_resources = at_most(param ? param->responder_resources : RDMA_MAX_RESP_RES,
						      asked->initiator_depth);
		message.initiator_depth = at_most(param ? param->initiator_depth : RDMA_MAX_INIT_DEPTH,
						  asked->responder_resources);
		error = connect_qp(self, message.initiator_depth, message.responder_resources, rdma_get_src_port(id));
		if (!error)
			error = cm_send(self, &message);
	}
	if (!error)
		cm_set_state(self, CM_ACCEPTING);
	pthread_mutex_unlock(&cm_lock);
	return error ? cm_error(error) : 0;
}

int rdma_reject(struct rdma_cm_id *id, const void *private_data, uint8_t private_data_len)
{
	struct cm_id *self = (struct cm_id *)id;
	int error = 0;

	pthread_mutex_lock(&cm_lock);
	if (self->state != CM_REQUESTED || private_data_len > CM_REJ_DATA) {
		error = EINVAL;
	} else {
		struct cm_message message = {.type = CM_REJ, .status = CM_REJ_CONSUMER};
		if (private_data_len)
			memcpy(message.data, private_data, private_data_len);
		cm_send(self, &message);
		cm_set_state(self, CM_ENDED);
		cm_close(self);
	}
	pthread_mutex_unlock(&cm_lock);
	return error ? cm_error(error) : 0;
}

int rdma_establish(struct rdma_cm_id *id)
{
	struct cm_id *self = (struct cm_id *)id;
	int error = 0;

	pthread_mutex_lock(&cm_lock);
	if (self->state != CM_ANSWERED || id->qp) {
		error = EINVAL;
	} else {
		struct cm_message message = {.type = CM_RTU};
		error = cm_send(self, &message);
		cm_set_state(self, CM_CONNECTED);
	}
	pthread_mutex_unlock(&cm_lock);
	return error ? cm_error(error) : 0;
}

int rdma_disconnect(struct rdma_cm_id *id)
{
	struct cm_id *self = (struct cm_id *)id;
	int error = 0;

	pthread_mutex_lock(&cm_lock);
	if (self->state < CM_REQUESTING || self->state == CM_REQUESTED) {
		error = EINVAL;
	} else {
		if (id->qp)
			standin_qp_error(id->qp);
		if (self->state == CM_CONNECTED || self->state == CM_ACCEPTING) {
			struct cm_message message = {.type = CM_DREQ};
			cm_set_state(self, CM_DISCONNECTING);
			cm_send(self, &message);
		}
	}
	pthread_mutex_unlock(&cm_lock);
	return error ? cm_error(error) : 0;
}

static void end(struct cm_id *id)
{
	cm_set_state(id, CM_ENDED);
	cm_post(id, NULL, RDMA_CM_EVENT_DISCONNECTED, 0, NULL, 0);
	cm_timewait(id);
}

static void requested(struct cm_id *id, const struct cm_message *message)
{
	struct cm_id *listener = id->listener;

	id->remote = *message;
	id->listener = NULL;
	cm_set_address(&id->id.route.addr.dst_storage, &message->address);
	struct sockaddr_in6 own = {.sin6_family = AF_INET6, .sin6_addr = *standin_address(),
				   .sin6_port = rdma_get_src_port(&listener->id)};
	cm_set_address(&id->id.route.addr.src_storage, &own);
	cm_attach(id);
	cm_set_state(id, CM_REQUESTED);
	cm_post(id, listener, RDMA_CM_EVENT_CONNECT_REQUEST, 0, message, CM_REQ_DATA);
}

static void answered(struct cm_id *id, const struct cm_message *message)
{
	id->remote = *message;
	if (!id->id.qp) {
		cm_set_state(id, CM_ANSWERED);
		cm_post(id, NULL, RDMA_CM_EVENT_CONNECT_RESPONSE, 0, message, CM_REP_DATA);
		return;
	}
	/* the answer's numbers in this side's view */
	int error = connect_qp(id, message->responder_resources, message->initiator_depth,
			       rdma_get_dst_port(&id->id));
	struct cm_message reply = {.type = error ? CM_REJ : CM_RTU, .status = CM_REJ_CONSUMER};
	cm_send(id, &reply);
	cm_set_state(id, error ? CM_ENDED : CM_CONNECTED);
	if (error)
		cm_post(id, NULL, RDMA_CM_EVENT_CONNECT_ERROR, -error, NULL, 0);
	else
		cm_post(id, NULL, RDMA_CM_EVENT_ESTABLISHED, 0, message, CM_REP_DATA);
}

void cm_received(struct cm_id *id, const struct cm_message *message)
{
	if (message->type == CM_REQ && id->state == CM_INCOMING) {
		requested(id, message);
	} else if (message->type == CM_REP && id->state == CM_REQUESTING) {
		answered(id, message);
	} else if (message->type == CM_RTU && id->state == CM_ACCEPTING) {
		cm_set_state(id, CM_CONNECTED);
		cm_post(id, NULL, RDMA_CM_EVENT_ESTABLISHED, 0, NULL, 0);
	} else if (message->type == CM_REJ && id->state != CM_CONNECTED && id->state != CM_ENDED) {
		cm_set_state(id, CM_ENDED);
		if (id->id.qp)
			standin_qp_error(id->id.qp);
		cm_post(id, NULL, RDMA_CM_EVENT_REJECTED, message->status, message, CM_REJ_DATA);
	} else if (message->type == CM_DREQ && id->state != CM_ENDED) {
		/* the queue pair stays as it is until this side disconnects too */
		struct cm_message reply = {.type = CM_DREP};
		cm_send(id, &reply);
		end(id);
	} else if (message->type == CM_DREP && id->state == CM_DISCONNECTING) {
		end(id);
	}
}

/* The socket is at its end: the peer's process has ended, or it destroyed its identifier. */
void cm_peer_gone(struct cm_id *id)
{
	struct cm_message nothing = {0};

	switch (id->state) {
	case CM_REQUESTING:
	case CM_ACCEPTING:
		cm_set_state(id, CM_ENDED);
		cm_post(id, NULL, RDMA_CM_EVENT_REJECTED, CM_REJ_CONSUMER, &nothing, CM_REJ_DATA);
		break;
	case CM_REQUESTED:
		cm_set_state(id, CM_ENDED);
		cm_post(id, NULL, RDMA_CM_EVENT_REJECTED, CM_REJ_TIMEOUT, &nothing, CM_REJ_DATA);
		break;
	case CM_CONNECTED:
		if (id->id.qp)
			standin_qp_peer_died(id->id.qp);
		end(id);
		break;
	case CM_ANSWERED:
	case CM_DISCONNECTING:
		end(id);
		break;
	case CM_INCOMING:
		cm_discard(id); /* nobody knows of it yet */
		break;
	default:
		break;
	}
}

/* What a process that destroys an identifier still says to the peer. */
void cm_goodbye(struct cm_id *id)
{
	if (id->state == CM_CONNECTED || id->state == CM_ACCEPTING) {
		struct cm_message message = {.type = CM_DREQ};
		cm_send(id, &message);
	}
}

void cm_drop_all(void)
{
	pthread_mutex_lock(&cm_lock);
	for (struct cm_id *id = cm_ids; id; id = id->next) {
		/* the peer, which drops too, may have been faster: then only the queue pair is left */
		if (id->state >= CM_CONNECTED && id->id.qp)
			standin_qp_error(id->id.qp);
		if (id->state != CM_CONNECTED)
			continue;
		struct cm_message message = {.type = CM_DREQ};
		cm_send(id, &message);
		end(id);
	}
	pthread_mutex_unlock(&cm_lock);
}

void cm_device_removed(void)
{
	pthread_mutex_lock(&cm_lock);
	for (struct cm_id *id = cm_ids; id; id = id->next)
		if (id->id.verbs && id->state != CM_INCOMING)
			cm_post(id, NULL, RDMA_CM_EVENT_DEVICE_REMOVAL, 0, NULL, 0);
	pthread_mutex_unlock(&cm_lock);
}

/* Whether it fits their state or not; a request would have to bring an identifier of its own. */
void cm_event_all(int type, int status)
{
	struct cm_message nothing = {0};

	pthread_mutex_lock(&cm_lock);
	for (struct cm_id *id = cm_ids; id; id = id->next)
		if (id->state != CM_LISTENING && id->state != CM_INCOMING && id->state != CM_REQUESTED)
			cm_post(id, NULL, (enum rdma_cm_event_type)type, status, &nothing, CM_REJ_DATA);
	pthread_mutex_unlock(&cm_lock);
}
