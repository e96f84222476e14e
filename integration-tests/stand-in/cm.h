/* The connection manager: RDMA CM's identifiers and events over unix sockets between the processes of one machine. */
#ifndef STANDIN_CM_H
#define STANDIN_CM_H

#include "standin.h"

#include <rdma/rdma_cma.h>
#include <sys/socket.h>

/* Room for private data in the messages of the InfiniBand connection manager; events always carry all of it. */
#define CM_REQ_DATA 56
#define CM_REP_DATA 196
#define CM_REJ_DATA 148

#define CM_REJ_TIMEOUT 4
#define CM_REJ_NO_LISTENER 8
#define CM_REJ_CONSUMER 28

enum cm_state {
	CM_IDLE,
	CM_BOUND,
	CM_LISTENING,
	CM_ADDR_RESOLVED,
	CM_ROUTE_RESOLVED,
	CM_REQUESTING, /* active: waits for the answer */
	CM_ANSWERED, /* active without a queue pair: waits for rdma_establish */
	CM_INCOMING, /* passive: the socket is there, the request not yet */
	CM_REQUESTED, /* passive: waits for accept or reject */
	CM_ACCEPTING, /* passive: waits for the peer's last word */
	CM_CONNECTED,
	CM_DISCONNECTING,
	CM_ENDED
};

enum cm_message_type { CM_REQ = 1, CM_REP, CM_RTU, CM_REJ, CM_DREQ, CM_DREP };

struct cm_message {
	uint32_t type;
	int32_t status;
	struct standin_identity from;
	uint32_t qp_num;
	uint8_t responder_resources;
	uint8_t initiator_depth;
	uint8_t retry_count;
	uint8_t rnr_retry_count;
	uint8_t flow_control;
	uint8_t padding[3]; /* named, so that no byte is sent undefined */
	struct sockaddr_in6 address; /* of the sender, IPv4-mapped for IPv4 */
	uint8_t data[CM_REP_DATA];
	uint8_t more_padding[4];
};

struct cm_id {
	struct rdma_cm_id id;
	struct cm_id *next;
	uint64_t serial; /* names the socket's owner to the thread, which may outlive it */
	enum cm_state state;
	struct cm_id *listener; /* of one in CM_INCOMING */
	int sock;
	struct cm_message remote; /* the peer's request or answer */
	uint64_t timewait; /* when its end is due, or 0 */
	uint32_t delivered; /* events that were handed out, and those acknowledged */
	uint32_t acknowledged;
};

struct cm_channel {
	struct rdma_event_channel channel;
	struct standin_queue events;
};

/* cm_events.c */
void cm_post(struct cm_id *id, struct cm_id *listener, enum rdma_cm_event_type type, int status,
	     const struct cm_message *message, uint8_t data_length);
/* Drops the events that nobody has taken; answers the child of a dropped connect request, one per call. */
struct cm_id *cm_drop_events(struct cm_id *id);
void cm_move_events(struct cm_id *id, struct cm_channel *to);
void cm_wait_acknowledged(struct cm_id *id);

/* cm_id.c: the lock guards all identifiers; functions of this header are called under it unless said otherwise. */
extern pthread_mutex_t cm_lock;
extern struct cm_id *cm_ids;
struct cm_id *cm_new(struct rdma_event_channel *channel, void *context, enum rdma_port_space space);
void cm_discard(struct cm_id *id);
void cm_attach(struct cm_id *id);
struct ibv_context *cm_verbs(void); /* takes no lock of the caller's */
void cm_set_state(struct cm_id *id, enum cm_state state);
int cm_error(int error);

/* cm_address.c */
bool cm_is_local(const struct sockaddr *address);
int cm_reserve(struct cm_id *id, const struct sockaddr *address);
socklen_t cm_name(struct in6_addr address, uint16_t port, void *name);
struct sockaddr_in6 cm_canonical(const struct sockaddr *address);
void cm_set_address(struct sockaddr_storage *into, const struct sockaddr_in6 *from);

/* cm_wire.c */
int cm_wire_start(void); /* takes no lock of the caller's */
void cm_watch(struct cm_id *id);
void cm_close(struct cm_id *id);
int cm_send(struct cm_id *id, struct cm_message *message);
void cm_timewait(struct cm_id *id);

/* cm_connect.c */
void cm_received(struct cm_id *id, const struct cm_message *message);
void cm_peer_gone(struct cm_id *id);
void cm_goodbye(struct cm_id *id);
void cm_drop_all(void); /* takes the lock itself */
void cm_device_removed(void); /* takes the lock itself */
void cm_event_all(int type, int status); /* takes the lock itself */

#endif
