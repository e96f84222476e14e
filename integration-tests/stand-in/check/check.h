/* Test client and server that use the libraries through the real headers, as any program would. */
#ifndef CHECK_H
#define CHECK_H

#include <errno.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

void check_failed(const char *file, int line, const char *what, long long got, long long wanted);

#define CHECK(condition) ((condition) ? (void)0 : check_failed(__FILE__, __LINE__, #condition, errno, 0))
#define EQUAL(got, wanted)                                                                   \
	do {                                                                                 \
		long long got_ = (long long)(got), wanted_ = (long long)(wanted);            \
		if (got_ != wanted_)                                                         \
			check_failed(__FILE__, __LINE__, #got " == " #wanted, got_, wanted_); \
	} while (0)

#define BUFFER (8u << 20)
#define MARGIN 65536u /* readable, but not registered, on both sides of the buffer */
#define BASE UINT64_C(0x5a00000000000000)

#define RECEIVE 1000u
#define RECEIVE_AT (1u << 20)
#define IMMEDIATE 0x01020304u

/* One side of a connection, or a listener, with all that it owns. */
struct end {
	struct rdma_event_channel *events;
	struct rdma_cm_id *id;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	uint8_t *buffer;
	struct ibv_mr *mr;
	/* what the peer published */
	uint64_t remote;
	uint32_t rkey;
};

/* What a server tells its client in the private data of its answer. */
struct published {
	uint64_t iova;
	uint64_t rkey; /* as wide as the first, so that no undefined padding is sent */
};

struct server {
	pid_t pid;
	uint16_t port;
	int commands;
	int answers;
};

/*
 * Starts a process that listens; its mode: 'a' accept, 'r' reject, 'n' without REMOTE_READ, '0' with no depth, 'w' with all
 * rights and senders that try for ever, 'b' the same with senders that try once.
 */
struct server server_start(char mode);
/*
 * 'd' deregister, 'x' disconnect, 'q' close all and end, 'p' nothing, 'R' post a receive of RECEIVE bytes at RECEIVE_AT, 'C' expect
 * its completion, 'I' the same with IMMEDIATE, 'W' that of a WRITE with it, 'E' that it was too short; answers when it is done.
 */
void server_command(struct server *server, char command);
void server_kill(struct server *server);
void server_stop(struct server *server);

struct rdma_cm_event *next_event(struct rdma_event_channel *channel, int timeout_ms);
void expect_event(struct rdma_event_channel *channel, enum rdma_cm_event_type type, int status);
void end_make(struct end *end, const char *address);
void end_resolve(struct end *end, uint16_t port);
void end_setup(struct end *end, int access, int send_wr);
void end_connect(struct end *end, uint16_t port);
void end_close(struct end *end);
void end_unmap(struct end *end);
void client(struct end *end, struct server *server);

int post_read(struct end *end, uint64_t id, uint64_t remote, uint32_t rkey, uint32_t length, int flags);
struct ibv_wc wait_wc(struct end *end, int timeout_ms);
void expect_wc(struct end *end, uint64_t id, enum ibv_wc_status status);
uint8_t pattern(uint64_t offset);
void faults(const char *lines);
/* The sum of the named counters of this process reaches a value; their file follows within 20 ms on an idle machine. */
void expect_counters(const char *names, long long wanted);
double seconds(void);
struct ibv_async_event wait_async(struct ibv_context *context, int timeout_ms);

struct test {
	const char *name;
	void (*run)(void);
};
extern const struct test read_tests[], send_tests[], cm_tests[], fault_tests[], stress_tests[];

#endif
