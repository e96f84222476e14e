/*
 * The stand-in device: what the source files of the two libraries share. libibverbs.so.1 holds all of it but the
 * connection manager; librdmacm.so.1 (cm*.c) is linked to it and uses the functions declared here.
 */
#ifndef STANDIN_H
#define STANDIN_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <infiniband/verbs.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The header wraps these in macros; here the exported functions themselves are defined. */
#undef ibv_query_port
#undef ibv_reg_mr
#undef ibv_reg_mr_iova

#define STANDIN_MAX_MR (1u << 17)
#define STANDIN_MAX_QP (1u << 12)
#define STANDIN_MAX_RD_ATOM 16
#define STANDIN_PORT 1
#define STANDIN_NEVER UINT64_MAX

/* ---- Memory that other processes map: what a network card would know of this process ---- */

/* A memory region. The lock is held while a READ copies from it, so that deregistration waits for the copy. */
struct standin_mr_slot {
	pthread_mutex_t lock; /* shared and robust: a reader may be killed while it copies */
	_Atomic uint32_t ready;
	uint32_t key; /* 0 when no region is registered here */
	uint32_t pd;
	uint32_t access;
	uint64_t addr;
	uint64_t iova;
	uint64_t length;
};

/*
 * The responder's half of a queue pair. Its receive queue lies in its own process; a peer that sends reads and writes
 * the entry that is next, under the lock, so that the queue stays where it is meanwhile.
 */
struct standin_qp_slot {
	pthread_mutex_t lock; /* shared and robust */
	_Atomic uint32_t ready;
	_Atomic uint32_t min_rnr_timer;
	uint64_t receives; /* addresses of the entries and of their scatter lists */
	uint64_t receive_sges;
	uint32_t receive_capacity;
	uint32_t receive_max_sge;
	_Atomic uint64_t receives_posted;
	_Atomic uint64_t receives_arrived;
	_Atomic uint32_t qp_num;
	_Atomic uint32_t state;
	_Atomic uint32_t peer_qp_num;
	_Atomic uint32_t max_dest_rd_atomic;
	_Atomic uint32_t access;
	uint32_t pd;
};

struct standin_table {
	uint64_t token; /* tells a process from a later one with the same pid */
	_Atomic uint32_t port_state;
	_Atomic uint32_t arrivals; /* a futex: changes when a message has come for any queue pair */
	struct standin_qp_slot qps[STANDIN_MAX_QP];
	struct standin_mr_slot mrs[STANDIN_MAX_MR];
};

/* Another process (or this one) as the target of READs. */
struct standin_peer {
	struct standin_peer *next;
	pid_t pid;
	uint64_t token;
	int references;
	_Atomic bool dead;
	struct standin_table *table;
};

/* What a process tells its peer so that the peer can map its table. */
struct standin_identity {
	int32_t pid;
	int32_t fd;
	uint64_t token;
};

struct standin_table *standin_own_table(void);
int standin_own_identity(struct standin_identity *identity);
struct standin_peer *standin_peer_get(const struct standin_identity *identity);
void standin_peer_put(struct standin_peer *peer);
int standin_slot_lock(struct standin_mr_slot *slot);
void standin_shared_lock_init(pthread_mutex_t *lock);
int standin_shared_lock(pthread_mutex_t *lock);

/* ---- Event queues behind a file descriptor that can be polled ---- */

struct standin_node {
	struct standin_node *next;
};

struct standin_queue {
	int fd;
	pthread_mutex_t lock;
	struct standin_node *head;
	struct standin_node **tail;
};

int standin_queue_init(struct standin_queue *queue);
void standin_queue_destroy(struct standin_queue *queue);
void standin_queue_push(struct standin_queue *queue, struct standin_node *node);
/* Blocks unless the descriptor is O_NONBLOCK. taken() runs before anybody can remove() again. */
struct standin_node *standin_queue_pop(struct standin_queue *queue, void (*taken)(struct standin_node *));
struct standin_node *standin_queue_remove(struct standin_queue *queue,
					  bool (*match)(struct standin_node *, const void *), const void *argument);

/* ---- Settings ---- */

struct standin_limits {
	uint64_t max_mr_size;
	bool memlock;
	uint32_t max_msg_sz;
	int max_mr;
	int max_qp;
	int max_cq;
	int max_cqe;
	int max_qp_wr;
	int max_sge;
	int max_rd_atom;
	int max_inline;
	bool atomics;
};

const struct standin_limits *standin_limits(void);
const char *standin_directory(void);
/* The device's address as an IPv6 address (IPv4-mapped for IPv4). */
const struct in6_addr *standin_address(void);
unsigned standin_ifindex(void);
uint64_t standin_now(void);

/* ---- Faults, the model and the counters ---- */

enum standin_op {
	STANDIN_GET_DEVICE_LIST,
	STANDIN_OPEN_DEVICE,
	STANDIN_ALLOC_PD,
	STANDIN_REG_MR,
	STANDIN_CREATE_COMP_CHANNEL,
	STANDIN_CREATE_CQ,
	STANDIN_CREATE_QP,
	STANDIN_POST_SEND,
	STANDIN_READ,
	STANDIN_BIND_ADDR,
	STANDIN_LISTEN,
	STANDIN_RESOLVE_ADDR,
	STANDIN_RESOLVE_ROUTE,
	STANDIN_CONNECT,
	STANDIN_ACCEPT,
	STANDIN_OPS
};

enum standin_cm_action { STANDIN_CM_NONE, STANDIN_CM_REJECT, STANDIN_CM_SILENT, STANDIN_CM_ERROR };

/* The circumstances of one operation, which rules may be limited to. */
struct standin_match {
	uint64_t bytes;
	uint32_t access;
	uint16_t peer_port; /* host byte order, 0 when there is none */
};

/* What the rules that fired ask for; zero means nothing. */
struct standin_hit {
	int error;
	int status;
	uint64_t delay_ns;
	bool drop;
	bool corrupt;
	enum standin_cm_action cm;
};

struct standin_model {
	bool instant;
	bool nocopy;
	uint64_t latency_ns;
	double ns_per_byte;
};

void standin_faults_refresh(void);
void standin_faults_check(enum standin_op op, const struct standin_match *match, struct standin_hit *hit);
/* Refreshes, checks and answers the errno that is asked for, or 0. */
int standin_fault_errno(enum standin_op op, const struct standin_match *match);
struct standin_model standin_current_model(void);
bool standin_port_up(void);
bool standin_device_dead(void);
bool standin_nocopy(void);
bool standin_device_absent(void);
void standin_monitor_start(void);
/* Hooks of the connection manager: all connections dropped; the device removed. */
void standin_set_cm_hooks(void (*drop)(void), void (*removed)(void), void (*event)(int type, int status));

enum standin_counter {
	STANDIN_N_CONTEXTS,
	STANDIN_N_PDS,
	STANDIN_N_MRS,
	STANDIN_N_MR_BYTES,
	STANDIN_N_REMOTE_BYTES,
	STANDIN_N_COMP_CHANNELS,
	STANDIN_N_CQS,
	STANDIN_N_QPS,
	STANDIN_N_CM_CHANNELS,
	STANDIN_N_CM_IDS,
	STANDIN_N_CONNECTED,
	STANDIN_N_REGISTRATIONS,
	STANDIN_N_REGISTRATIONS_OTHER,
	STANDIN_N_DOORBELLS,
	STANDIN_N_READS,
	STANDIN_N_READ_BYTES,
	STANDIN_N_WRITES,
	STANDIN_N_WRITE_BYTES,
	STANDIN_N_SENDS,
	STANDIN_N_SEND_BYTES,
	STANDIN_N_ATOMICS,
	STANDIN_N_RECEIVES,
	STANDIN_N_NOT_READY,
	STANDIN_N_READ_ERRORS,
	STANDIN_N_FLUSHED,
	STANDIN_N_FAULT_HITS,
	STANDIN_N_FAULT_LOADS,
	STANDIN_COUNTERS
};

void standin_count(enum standin_counter counter, int64_t change);
void standin_counters_write(void);

/* ---- Device, completion queues, queue pairs ---- */

struct standin_context {
	struct standin_context *next;
	uint32_t number; /* the upper half of the handles of its protection domains */
	atomic_int pds;
	struct standin_queue async;
	pthread_mutex_t lock; /* the list of queue pairs, the worker's state */
	pthread_cond_t wake;
	pthread_cond_t released;
	struct standin_qp *qps;
	bool stop;
	pthread_t worker;
	struct verbs_context verbs;
};

struct standin_pd {
	struct ibv_pd pd;
	atomic_int users;
};

struct standin_channel {
	struct ibv_comp_channel channel;
	struct standin_queue events;
};

struct standin_cqe {
	struct ibv_wc wc;
	struct standin_qp *qp; /* whose send queue entries up to `reclaim` become free when this is polled */
	uint64_t reclaim;
};

struct standin_cq {
	struct ibv_cq cq;
	pthread_mutex_t lock;
	struct standin_cqe *ring;
	uint32_t capacity;
	uint64_t head;
	uint64_t tail;
	int armed; /* 0 no, 1 for any completion, 2 for a failed one only */
	bool overrun;
	uint32_t comp_events;
	uint32_t async_events;
	atomic_int users;
};

struct standin_send {
	uint64_t wr_id;
	uint64_t remote_addr;
	uint64_t due;
	uint64_t length;
	uint32_t rkey;
	int sges;
	int status; /* a completion status that a fault asks for, or 0 */
	enum ibv_wr_opcode opcode;
	uint32_t imm;
	uint64_t compare_add;
	uint64_t swap;
	bool is_inline;
	bool solicited;
	bool corrupt; /* a fault wants the first byte to arrive wrong */
	bool signalled;
};

/* An entry of a receive queue; the peer that sends fills the second half. */
struct standin_receive {
	uint64_t wr_id;
	int32_t sges;
	int32_t status;
	uint32_t opcode;
	uint32_t bytes;
	uint32_t imm;
	uint32_t flags;
	uint32_t solicited;
	uint32_t padding;
};

/* What execution answers when the peer has posted no receive. */
#define STANDIN_NOT_READY (-1)
#define STANDIN_RNR_FOREVER 7

struct standin_qp {
	struct ibv_qp qp;
	struct standin_qp *next;
	int references; /* of the worker, under the context's lock */
	struct ibv_qp_cap cap;
	bool signal_all;
	pthread_mutex_t run; /* one thread at a time executes */
	pthread_mutex_t lock; /* the rings and the state */
	struct standin_send *ring;
	struct ibv_sge *sges;
	uint64_t posted;
	uint64_t done;
	_Atomic uint64_t reclaimed;
	_Atomic uint64_t next_due;
	uint64_t last_due;
	uint64_t slot_due[STANDIN_MAX_RD_ATOM];
	uint8_t *inlines;
	struct standin_receive *receives;
	struct ibv_sge *receive_sges;
	uint64_t receives_done;
	uint8_t rnr_retry;
	uint8_t rnr_left;
	uint32_t max_rd_atomic;
	uint32_t qp_access;
	uint16_t peer_port;
	uint32_t peer_qp_num;
	struct standin_peer *peer;
	struct standin_qp_slot *shared;
};

#define STANDIN_OF(pointer, type, member) ((type *)((char *)(pointer) - offsetof(type, member)))

static inline struct standin_context *standin_context_of(struct ibv_context *context)
{
	return STANDIN_OF(context, struct standin_context, verbs.context);
}

void standin_async_all(enum ibv_event_type type);
void standin_async_event(enum ibv_event_type type, uint8_t port);
void standin_async_cq(struct ibv_cq *cq);
void standin_contexts_fail(void);

/* Memory: the checks of one scatter entry and of the remote side; both answer a completion status. */
int standin_local_pin(uint32_t pd, const struct ibv_sge *sge, uint32_t access, uint64_t *address);
void standin_local_unpin(uint32_t lkey);
/* A range of the peer's memory, and what the peer must allow for it. */
struct standin_range {
	uint32_t pd;
	uint32_t key;
	uint64_t from;
	uint64_t length;
	uint32_t access;
};

int standin_remote_copy(struct standin_peer *peer, const struct standin_range *range, bool write,
			const struct ibv_sge *local, int count, uint64_t offset);
int standin_remote_atomic(struct standin_peer *peer, const struct standin_range *range, const struct standin_send *send,
			  uint64_t *before);
/* Whether the memory of the peer's process could be read, or written. */
bool standin_peer_copy(const struct standin_peer *peer, void *own, uint64_t there, uint64_t bytes, bool write);

/* Receive queues. */
int standin_send_message(struct standin_qp *qp, const struct standin_send *send, const struct ibv_sge *local, int count);
uint64_t standin_not_ready_ns(const struct standin_qp *qp);
void standin_take_arrivals(struct standin_qp *qp);
void standin_flush_receives(struct standin_qp *qp);
void standin_arrivals_start(void);
void standin_contexts_arrived(void);
void standin_memory_forget(uint32_t context_number);

void standin_cq_push(struct ibv_cq *cq, const struct ibv_wc *wc, struct standin_qp *qp, uint64_t reclaim, bool solicited);
void standin_cq_forget(struct ibv_cq *cq, struct standin_qp *qp);
int standin_poll_cq(struct ibv_cq *cq, int count, struct ibv_wc *wc);
int standin_req_notify_cq(struct ibv_cq *cq, int solicited_only);

int standin_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
int standin_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);
/* Executes what is due; answers when the next work request will be. */
uint64_t standin_qp_run(struct standin_qp *qp, uint64_t now, int budget);
void standin_set_state(struct standin_qp *qp, enum ibv_qp_state state);
int standin_worker_start(struct standin_context *context);
void standin_worker_stop(struct standin_context *context);
void standin_worker_wake(struct standin_context *context);
uint64_t standin_schedule(struct standin_qp *qp, const struct standin_model *model, bool read, uint64_t bytes,
			  uint64_t delay);

/* For the connection manager. */
struct ibv_pd *standin_pd_alloc(struct ibv_context *context);
struct standin_connection {
	struct standin_identity peer;
	uint32_t peer_qp_num;
	uint32_t max_rd_atomic;
	uint32_t max_dest_rd_atomic;
	uint16_t peer_port;
	uint8_t rnr_retry;
};
void standin_qp_init(struct ibv_qp *qp);
int standin_qp_connect(struct ibv_qp *qp, const struct standin_connection *connection);
void standin_qp_error(struct ibv_qp *qp);
void standin_qp_peer_died(struct ibv_qp *qp);

#endif
