/* Many things at once: the locks that processes share must neither deadlock nor be left behind by a killed one. */
#include "check.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

/* Reads without a pause until it is killed; tells when it has begun. */
static void read_forever(struct server *server, int begun)
{
	struct end end;

	client(&end, server);
	for (;;) {
		EQUAL(post_read(&end, 1, end.remote, end.rkey, BUFFER, IBV_SEND_SIGNALED), 0);
		expect_wc(&end, 1, IBV_WC_SUCCESS);
		EQUAL(write(begun, "", 1), 1);
	}
}

/* Killed in the middle of a copy, with the region's lock held: its owner can still deregister it. */
static void killed_reader(void)
{
	for (int round = 0; round < 10; round++) {
		struct server server = server_start('a');
		int begun[2];
		char byte;
		EQUAL(pipe(begun), 0);
		fflush(NULL);
		pid_t reader = fork();
		if (reader == 0)
			read_forever(&server, begun[1]);
		EQUAL(read(begun[0], &byte, 1), 1);
		usleep((useconds_t)round * 700);
		kill(reader, SIGKILL);
		waitpid(reader, NULL, 0);
		server_command(&server, 'd');
		server_stop(&server);
	}
}

struct side {
	struct end listener;
	struct end out; /* reads from the other process */
	struct end in; /* is read by the other process */
};

static void *accept_one(void *argument)
{
	struct side *side = argument;
	struct rdma_cm_event *event = next_event(side->listener.events, 10000);
	struct rdma_conn_param param = {.initiator_depth = 16, .responder_resources = 16};

	CHECK(event);
	EQUAL(event->event, RDMA_CM_EVENT_CONNECT_REQUEST);
	side->in.id = event->id;
	rdma_ack_cm_event(event);
	end_setup(&side->in, IBV_ACCESS_REMOTE_READ, 4);
	for (uint64_t i = 0; i < BUFFER; i++)
		side->in.buffer[i] = pattern(i);
	struct published published = {BASE, side->in.mr->rkey};
	param.private_data = &published;
	param.private_data_len = sizeof published;
	EQUAL(rdma_accept(side->in.id, &param), 0);
	expect_event(side->listener.events, RDMA_CM_EVENT_ESTABLISHED, 0);
	return NULL;
}

/* Registers and deregisters other memory while READs run. */
static void *churn(void *argument)
{
	struct side *side = argument;

	for (int i = 0; i < 300; i++) {
		struct ibv_mr *mr = ibv_reg_mr(side->in.pd, side->in.buffer, 65536, IBV_ACCESS_REMOTE_READ);
		CHECK(mr);
		EQUAL(ibv_dereg_mr(mr), 0);
	}
	return NULL;
}

static void run_side(int to_other, int from_other)
{
	struct side side = {0};
	pthread_t accepting, churning;
	char done = 1;

	end_make(&side.listener, "127.0.0.1");
	EQUAL(rdma_listen(side.listener.id, 4), 0);
	uint16_t own = ntohs(rdma_get_src_port(side.listener.id)), other;
	EQUAL(write(to_other, &own, sizeof own), sizeof own);
	EQUAL(read(from_other, &other, sizeof other), sizeof other);
	EQUAL(pthread_create(&accepting, NULL, accept_one, &side), 0);
	end_make(&side.out, NULL);
	end_connect(&side.out, other);
	pthread_join(accepting, NULL);
	EQUAL(pthread_create(&churning, NULL, churn, &side), 0);
	for (uint64_t i = 0; i < 60; i++) {
		uint32_t length = (uint32_t)(1 + i * 50001 % (4u << 20));
		EQUAL(post_read(&side.out, i, side.out.remote + i, side.out.rkey, length, IBV_SEND_SIGNALED), 0);
		expect_wc(&side.out, i, IBV_WC_SUCCESS);
		EQUAL(side.out.buffer[length - 1], pattern(i + length - 1));
	}
	pthread_join(churning, NULL);
	EQUAL(write(to_other, &done, 1), 1);
	EQUAL(read(from_other, &done, 1), 1);
	end_close(&side.out);
	/* both ends of the listener's channel go before it does */
	side.in.events = side.listener.events;
	struct rdma_event_channel *own_events = rdma_create_event_channel();
	CHECK(own_events);
	EQUAL(rdma_migrate_id(side.in.id, own_events), 0);
	side.in.events = own_events;
	end_close(&side.in);
	end_close(&side.listener);
	expect_counters("mrs qps cqs pds cm_ids", 0);
}

/* Two processes that read from each other, each with its regions locked by the other. */
static void crosswise(void)
{
	int there[2], back[2], status;

	EQUAL(pipe(there), 0);
	EQUAL(pipe(back), 0);
	fflush(NULL);
	pid_t other = fork();
	if (other == 0) {
		run_side(there[1], back[0]);
		exit(0);
	}
	run_side(back[1], there[0]);
	EQUAL(waitpid(other, &status, 0), other);
	EQUAL(status, 0);
}

/* More connections than one, opened and closed over and over. */
static void reconnecting(void)
{
	struct server servers[5];

	/* a process that uses the library cannot be forked */
	for (int i = 0; i < 5; i++)
		servers[i] = server_start('a');
	for (int i = 0; i < 5; i++) {
		struct end end;
		client(&end, &servers[i]);
		EQUAL(post_read(&end, 1, end.remote, end.rkey, 4096, IBV_SEND_SIGNALED), 0);
		expect_wc(&end, 1, IBV_WC_SUCCESS);
		end_close(&end);
		server_stop(&servers[i]);
	}
	expect_counters("contexts", 1);
	expect_counters("mrs qps cqs pds cm_ids", 0);
}

/* A completion queue that is too small tells so once; receives are flushed with the rest. */
static void overrun_and_flush(void)
{
	struct server server = server_start('a');
	struct end end;
	struct ibv_recv_wr receive = {.wr_id = 77}, *bad_receive;
	struct ibv_wc wc;

	client(&end, &server);
	EQUAL(ibv_resize_cq(end.cq, 2), 0);
	for (uint64_t i = 0; i < 4; i++)
		EQUAL(post_read(&end, i, end.remote, end.rkey, 8, IBV_SEND_SIGNALED), 0);
	struct pollfd ready = {.fd = end.id->verbs->async_fd, .events = POLLIN};
	struct ibv_async_event event;
	EQUAL(poll(&ready, 1, 5000), 1);
	EQUAL(ibv_get_async_event(end.id->verbs, &event), 0);
	EQUAL(event.event_type, IBV_EVENT_CQ_ERR);
	CHECK(event.element.cq == end.cq);
	ibv_ack_async_event(&event);
	EQUAL(fcntl(end.id->verbs->async_fd, F_SETFL, O_NONBLOCK), 0);
	EQUAL(ibv_get_async_event(end.id->verbs, &event), -1);
	expect_counters("reads", 4); /* the lost ones too must be over before there is room again */
	expect_wc(&end, 0, IBV_WC_SUCCESS);
	expect_wc(&end, 1, IBV_WC_SUCCESS);
	EQUAL(ibv_poll_cq(end.cq, 1, &wc), 0);
	EQUAL(ibv_post_recv(end.id->qp, &receive, &bad_receive), 0);
	EQUAL(rdma_disconnect(end.id), 0);
	expect_wc(&end, 77, IBV_WC_WR_FLUSH_ERR);
	end_close(&end);
	server_stop(&server);
}

const struct test stress_tests[] = {
	{"reader killed while it copies", killed_reader},
	{"two processes read from each other", crosswise},
	{"connect and close, repeatedly", reconnecting},
	{"overrun and flushed receives", overrun_and_flush},
	{NULL, NULL},
};
