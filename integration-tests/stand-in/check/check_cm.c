/* The connection manager: the order of its events, and every way not to connect. */
#include "check.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>

static struct rdma_conn_param depth(void)
{
	return (struct rdma_conn_param){.initiator_depth = 7, .responder_resources = 3, .retry_count = 6};
}

static void ports(void)
{
	struct end a, b;
	struct sockaddr_in address = {.sin_family = AF_INET};

	end_make(&a, "127.0.0.1");
	EQUAL(((struct sockaddr_in *)rdma_get_local_addr(a.id))->sin_addr.s_addr, htonl(INADDR_LOOPBACK));
	end_make(&b, NULL);
	inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
	address.sin_port = rdma_get_src_port(a.id);
	EQUAL(rdma_bind_addr(b.id, (struct sockaddr *)&address), -1);
	EQUAL(errno, EADDRINUSE);
	inet_pton(AF_INET, "10.1.2.3", &address.sin_addr);
	EQUAL(rdma_bind_addr(b.id, (struct sockaddr *)&address), -1);
	EQUAL(errno, ENODEV);
	end_close(&a);
	inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
	EQUAL(rdma_bind_addr(b.id, (struct sockaddr *)&address), 0);
	struct rdma_cm_event *event;
	EQUAL(fcntl(b.events->fd, F_SETFL, O_NONBLOCK), 0);
	EQUAL(rdma_get_cm_event(b.events, &event), -1);
	EQUAL(errno, EAGAIN);
	end_close(&b);
}

static void no_listener(void)
{
	struct rdma_conn_param param = depth();
	struct end end;

	end_make(&end, NULL);
	end_resolve(&end, 9);
	end_setup(&end, IBV_ACCESS_LOCAL_WRITE, 4);
	EQUAL(rdma_connect(end.id, &param), 0);
	expect_event(end.events, RDMA_CM_EVENT_REJECTED, 8);
	end_close(&end);
}

static void no_device_there(void)
{
	struct sockaddr_in target = {.sin_family = AF_INET, .sin_port = htons(9)};
	struct end end;

	end_make(&end, NULL);
	inet_pton(AF_INET, "10.1.2.3", &target.sin_addr);
	EQUAL(rdma_resolve_addr(end.id, NULL, (struct sockaddr *)&target, 1000), 0);
	expect_event(end.events, RDMA_CM_EVENT_ADDR_ERROR, -EHOSTUNREACH);
	end_close(&end);
}

static void rejected(void)
{
	struct server server = server_start('r');
	struct rdma_conn_param param = depth();
	struct end end;

	end_make(&end, NULL);
	end_resolve(&end, server.port);
	end_setup(&end, IBV_ACCESS_LOCAL_WRITE, 4);
	EQUAL(rdma_connect(end.id, &param), 0);
	struct rdma_cm_event *event = next_event(end.events, 5000);
	CHECK(event);
	EQUAL(event->event, RDMA_CM_EVENT_REJECTED);
	EQUAL(event->status, 28);
	EQUAL(event->param.conn.private_data_len, 148);
	EQUAL(strcmp(event->param.conn.private_data, "no room"), 0);
	rdma_ack_cm_event(event);
	end_close(&end);
	server_stop(&server);
}

/* Both ends in this process; each side sees the other's numbers exchanged. */
static void both_here(void)
{
	struct end listener, here, there = {0};
	struct rdma_conn_param param = depth();
	char greeting[56] = "hello";

	end_make(&listener, "127.0.0.1");
	EQUAL(rdma_listen(listener.id, 4), 0);
	end_make(&here, NULL);
	end_resolve(&here, ntohs(rdma_get_src_port(listener.id)));
	end_setup(&here, IBV_ACCESS_LOCAL_WRITE, 4);
	param.private_data = greeting;
	param.private_data_len = 57;
	EQUAL(rdma_connect(here.id, &param), -1);
	EQUAL(errno, EINVAL);
	param.private_data_len = 6;
	EQUAL(rdma_connect(here.id, &param), 0);
	struct rdma_cm_event *event = next_event(listener.events, 5000);
	CHECK(event);
	EQUAL(event->event, RDMA_CM_EVENT_CONNECT_REQUEST);
	EQUAL(memcmp(event->param.conn.private_data, greeting, 56), 0);
	EQUAL(event->param.conn.responder_resources, 7);
	EQUAL(event->param.conn.initiator_depth, 3);
	there.id = event->id;
	rdma_ack_cm_event(event);
	EQUAL(rdma_get_dst_port(there.id), rdma_get_src_port(here.id));
	CHECK((there.events = rdma_create_event_channel()));
	EQUAL(rdma_migrate_id(there.id, there.events), 0);
	end_setup(&there, IBV_ACCESS_REMOTE_READ, 4);
	memcpy(there.buffer, "data", 4);
	struct rdma_conn_param answer = {.initiator_depth = 2, .responder_resources = 5};
	EQUAL(rdma_accept(there.id, &answer), 0);
	expect_event(here.events, RDMA_CM_EVENT_ESTABLISHED, 0);
	expect_event(there.events, RDMA_CM_EVENT_ESTABLISHED, 0);
	struct ibv_qp_attr attr;
	struct ibv_qp_init_attr init;
	EQUAL(ibv_query_qp(here.id->qp, &attr, IBV_QP_MAX_QP_RD_ATOMIC, &init), 0);
	EQUAL(attr.qp_state, IBV_QPS_RTS);
	EQUAL(attr.max_rd_atomic, 5);
	expect_counters("connected", 2);
	EQUAL(post_read(&here, 1, BASE, there.mr->rkey, 4, IBV_SEND_SIGNALED), 0);
	expect_wc(&here, 1, IBV_WC_SUCCESS);
	EQUAL(memcmp(here.buffer, "data", 4), 0);
	EQUAL(rdma_disconnect(here.id), 0);
	expect_event(here.events, RDMA_CM_EVENT_DISCONNECTED, 0);
	expect_event(there.events, RDMA_CM_EVENT_DISCONNECTED, 0);
	expect_event(here.events, RDMA_CM_EVENT_TIMEWAIT_EXIT, 0);
	expect_event(there.events, RDMA_CM_EVENT_TIMEWAIT_EXIT, 0);
	EQUAL(here.id->qp->state, IBV_QPS_ERR);
	EQUAL(there.id->qp->state, IBV_QPS_RTS);
	end_close(&here);
	end_close(&there);
	end_close(&listener);
	expect_counters("connected qps cm_ids cm_channels", 0);
}

/* The peer disconnects: READs no longer find a responder. */
static void disconnected(void)
{
	struct server server = server_start('a');
	struct end end;

	client(&end, &server);
	server_command(&server, 'x');
	expect_event(end.events, RDMA_CM_EVENT_DISCONNECTED, 0);
	EQUAL(post_read(&end, 1, end.remote, end.rkey, 8, 0), 0);
	expect_wc(&end, 1, IBV_WC_RETRY_EXC_ERR);
	EQUAL(rdma_disconnect(end.id), 0);
	end_close(&end);
	server_stop(&server);
}

/* A request that nobody took is refused when its listener goes. */
static void listener_gone(void)
{
	struct rdma_conn_param param = depth();
	struct end listener, end;

	end_make(&listener, "127.0.0.1");
	EQUAL(rdma_listen(listener.id, 4), 0);
	end_make(&end, NULL);
	end_resolve(&end, ntohs(rdma_get_src_port(listener.id)));
	end_setup(&end, IBV_ACCESS_LOCAL_WRITE, 4);
	EQUAL(rdma_connect(end.id, &param), 0);
	struct pollfd ready = {.fd = listener.events->fd, .events = POLLIN};
	EQUAL(poll(&ready, 1, 5000), 1);
	end_close(&listener);
	expect_event(end.events, RDMA_CM_EVENT_REJECTED, 28);
	end_close(&end);
	expect_counters("cm_ids cm_channels", 0);
}

static void killed_listener(void)
{
	struct server server = server_start('a');
	struct rdma_conn_param param = depth();
	struct end end;

	server_kill(&server);
	end_make(&end, NULL);
	end_resolve(&end, server.port);
	end_setup(&end, IBV_ACCESS_LOCAL_WRITE, 4);
	EQUAL(rdma_connect(end.id, &param), 0);
	expect_event(end.events, RDMA_CM_EVENT_REJECTED, 8);
	end_close(&end);
}

/* A queue pair can use only what belongs to its identifier's context. */
static void other_context(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = ibv_open_device(list[0]);
	struct ibv_pd *pd = ibv_alloc_pd(context);
	struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_RC};
	struct end end;

	ibv_free_device_list(list);
	end_make(&end, "127.0.0.1");
	EQUAL(rdma_create_qp(end.id, pd, &init), -1);
	EQUAL(errno, EINVAL);
	end_close(&end);
	EQUAL(ibv_dealloc_pd(pd), 0);
	EQUAL(ibv_close_device(context), 0);
}

const struct test cm_tests[] = {
	{"addresses and ports", ports},
	{"connect without a listener", no_listener},
	{"connect to an address without a device", no_device_there},
	{"connect and be rejected", rejected},
	{"connect within one process", both_here},
	{"disconnect by the peer", disconnected},
	{"listener destroyed before accept", listener_gone},
	{"listener's process killed", killed_listener},
	{"queue pair of another context", other_context},
	{NULL, NULL},
};
