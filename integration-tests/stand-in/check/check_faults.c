/* Faults on demand and the model of a network card. */
#include "check.h"

#include <arpa/inet.h>
#include <time.h>

static void nth_registration(void)
{
	struct end end;

	faults("reg_mr errno=ENOMEM nth=3\nreg_mr errno=EPERM access=5\n");
	end_make(&end, "127.0.0.1");
	end_setup(&end, IBV_ACCESS_REMOTE_READ, 4); /* the first */
	struct ibv_mr *second = ibv_reg_mr(end.pd, end.buffer, 4096, IBV_ACCESS_REMOTE_READ);
	CHECK(second);
	CHECK(!ibv_reg_mr(end.pd, end.buffer, 4096, IBV_ACCESS_REMOTE_READ) && errno == ENOMEM);
	struct ibv_mr *fourth = ibv_reg_mr(end.pd, end.buffer, 4096, IBV_ACCESS_REMOTE_READ);
	CHECK(fourth);
	CHECK(!ibv_reg_mr(end.pd, end.buffer, 4096, 5) && errno == EPERM);
	/* a line that stays keeps its count; a new one counts from its arrival */
	faults("reg_mr errno=ENOMEM nth=3\ncreate_cq errno=ENOMEM every=2 count=1\n");
	for (int i = 0; i < 3; i++) {
		struct ibv_mr *mr = ibv_reg_mr(end.pd, end.buffer, 4096, IBV_ACCESS_REMOTE_READ);
		CHECK(mr);
		EQUAL(ibv_dereg_mr(mr), 0);
	}
	for (int i = 1; i <= 4; i++) {
		struct ibv_cq *cq = ibv_create_cq(end.id->verbs, 8, NULL, NULL, 0);
		EQUAL(cq == NULL, i == 2);
		if (cq)
			EQUAL(ibv_destroy_cq(cq), 0);
	}
	EQUAL(ibv_dereg_mr(second), 0);
	EQUAL(ibv_dereg_mr(fourth), 0);
	end_close(&end);
	expect_counters("fault_hits", 3);
}

static void slow_registration(void)
{
	struct end end;
	struct timespec before, after;

	end_make(&end, "127.0.0.1");
	end_setup(&end, IBV_ACCESS_REMOTE_READ, 4);
	faults("reg_mr delay_us=200000 access=4\n");
	clock_gettime(CLOCK_MONOTONIC, &before);
	struct ibv_mr *mr = ibv_reg_mr(end.pd, end.buffer, 4096, IBV_ACCESS_REMOTE_READ);
	clock_gettime(CLOCK_MONOTONIC, &after);
	CHECK(mr);
	CHECK((after.tv_sec - before.tv_sec) * 1000 + (after.tv_nsec - before.tv_nsec) / 1000000 >= 199);
	EQUAL(ibv_dereg_mr(mr), 0);
	end_close(&end);
}

static void other_process(void)
{
	struct end end;

	faults("reg_mr errno=ENOMEM process=nothing-of-this-name\n# a comment\n\nreg_mr errno=ENOMEM min_bytes=1e9\n");
	end_make(&end, "127.0.0.1");
	end_setup(&end, IBV_ACCESS_REMOTE_READ, 4);
	faults("alloc_pd errno=EACCES process=self-test\n");
	CHECK(!ibv_alloc_pd(end.id->verbs) && errno == EACCES);
	end_close(&end);
}

static void read_status(void)
{
	struct server server = server_start('a');
	struct end end;

	client(&end, &server);
	faults("read status=12 nth=3\n");
	for (uint64_t i = 1; i <= 4; i++)
		EQUAL(post_read(&end, i, end.remote, end.rkey, 8, IBV_SEND_SIGNALED), 0);
	expect_wc(&end, 1, IBV_WC_SUCCESS);
	expect_wc(&end, 2, IBV_WC_SUCCESS);
	expect_wc(&end, 3, IBV_WC_RETRY_EXC_ERR);
	expect_wc(&end, 4, IBV_WC_WR_FLUSH_ERR);
	end_close(&end);
	server_stop(&server);
}

/* A dropped READ never ends by itself; when the connection is closed it is flushed. */
static void read_drop_and_delay(void)
{
	struct server server = server_start('a');
	struct end end;
	struct ibv_wc wc;
	char line[128];

	client(&end, &server);
	snprintf(line, sizeof line, "read delay_us=200000 only_peer_port=%u\nread drop nth=2\n", server.port);
	faults(line);
	double start = seconds();
	EQUAL(post_read(&end, 1, end.remote, end.rkey, 8, IBV_SEND_SIGNALED), 0);
	EQUAL(post_read(&end, 2, end.remote, end.rkey, 8, IBV_SEND_SIGNALED), 0);
	expect_wc(&end, 1, IBV_WC_SUCCESS);
	CHECK(seconds() - start >= 0.2);
	usleep(300000);
	EQUAL(ibv_poll_cq(end.cq, 1, &wc), 0);
	EQUAL(rdma_disconnect(end.id), 0);
	expect_wc(&end, 2, IBV_WC_WR_FLUSH_ERR);
	end_close(&end);
	server_stop(&server);
}

static void read_corrupt(void)
{
	struct server server = server_start('a');
	struct end end;
	uint8_t sound[8];

	client(&end, &server);
	faults("read corrupt nth=2\n");
	EQUAL(post_read(&end, 1, end.remote, end.rkey, 8, IBV_SEND_SIGNALED), 0);
	expect_wc(&end, 1, IBV_WC_SUCCESS);
	memcpy(sound, end.buffer, sizeof sound);
	EQUAL(post_read(&end, 2, end.remote, end.rkey, 8, IBV_SEND_SIGNALED), 0);
	expect_wc(&end, 2, IBV_WC_SUCCESS);
	EQUAL(end.buffer[0], sound[0] ^ 0xff);
	EQUAL(memcmp(end.buffer + 1, sound + 1, sizeof sound - 1), 0);
	end_close(&end);
	server_stop(&server);
}

static void port_flap(void)
{
	struct server server = server_start('a'), second = server_start('a');
	struct rdma_conn_param param = {.initiator_depth = 1, .responder_resources = 1};
	struct sockaddr_in target = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct ibv_port_attr port;
	struct end end, late;

	client(&end, &server);
	end_make(&late, NULL);
	end_resolve(&late, second.port);
	end_setup(&late, IBV_ACCESS_LOCAL_WRITE, 4);
	faults("port down\n");
	struct ibv_async_event event = wait_async(end.id->verbs, 5000);
	EQUAL(event.event_type, IBV_EVENT_PORT_ERR);
	EQUAL(event.element.port_num, 1);
	EQUAL(ibv_query_port(end.id->verbs, 1, &port), 0);
	EQUAL(port.state, IBV_PORT_DOWN);
	EQUAL(post_read(&end, 1, end.remote, end.rkey, 8, 0), 0);
	EQUAL(post_read(&end, 2, end.remote, end.rkey, 8, 0), 0);
	expect_wc(&end, 1, IBV_WC_RETRY_EXC_ERR);
	expect_wc(&end, 2, IBV_WC_WR_FLUSH_ERR);
	EQUAL(rdma_connect(late.id, &param), 0);
	expect_event(late.events, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT);
	end_close(&late);
	end_close(&end);
	server_stop(&server);
	end_make(&end, NULL);
	EQUAL(rdma_resolve_addr(end.id, NULL, (struct sockaddr *)&target, 1000), 0);
	expect_event(end.events, RDMA_CM_EVENT_ADDR_ERROR, -EHOSTUNREACH);
	faults("port up\n");
	EQUAL(wait_async(end.id->verbs, 5000).event_type, IBV_EVENT_PORT_ACTIVE);
	end_connect(&end, second.port);
	EQUAL(post_read(&end, 1, end.remote, end.rkey, 8, IBV_SEND_SIGNALED), 0);
	expect_wc(&end, 1, IBV_WC_SUCCESS);
	end_close(&end);
	server_stop(&second);
}

static void device_events(void)
{
	struct server server = server_start('a');
	struct end end;

	client(&end, &server);
	faults("gid_change\n");
	EQUAL(wait_async(end.id->verbs, 5000).event_type, IBV_EVENT_GID_CHANGE);
	faults("gid_change\ngid_change id=2\nread drop process=self-test\n");
	EQUAL(wait_async(end.id->verbs, 5000).event_type, IBV_EVENT_GID_CHANGE);
	faults("async event=11 port=7\nread drop process=self-test\n"); /* LID_CHANGE */
	struct ibv_async_event event = wait_async(end.id->verbs, 5000);
	EQUAL(event.event_type, IBV_EVENT_LID_CHANGE);
	EQUAL(event.element.port_num, 7);
	faults("async event=1\nread drop process=self-test\n"); /* QP_FATAL */
	event = wait_async(end.id->verbs, 5000);
	EQUAL(event.event_type, IBV_EVENT_QP_FATAL);
	CHECK(event.element.qp == end.id->qp);
	faults("cm_event event=15\nread drop process=self-test\n"); /* TIMEWAIT_EXIT */
	expect_event(end.events, RDMA_CM_EVENT_TIMEWAIT_EXIT, 0);
	EQUAL(post_read(&end, 1, end.remote, end.rkey, 8, 0), 0);
	faults("device_fatal\n");
	EQUAL(wait_async(end.id->verbs, 5000).event_type, IBV_EVENT_PORT_ERR);
	EQUAL(wait_async(end.id->verbs, 5000).event_type, IBV_EVENT_DEVICE_FATAL);
	expect_wc(&end, 1, IBV_WC_WR_FLUSH_ERR);
	expect_event(end.events, RDMA_CM_EVENT_DEVICE_REMOVAL, 0);
	CHECK(!ibv_reg_mr(end.pd, end.buffer, 4096, IBV_ACCESS_REMOTE_READ) && errno == EIO);
	end_close(&end);
}

static void absent(void)
{
	int count = -1;

	faults("device absent\n");
	struct ibv_device **list = ibv_get_device_list(&count);
	CHECK(list && !list[0]);
	EQUAL(count, 0);
	ibv_free_device_list(list);
	CHECK(!rdma_create_event_channel() && errno == ENODEV);
}

static void cm_faults(void)
{
	static const struct {
		const char *line;
		enum rdma_cm_event_type event;
		int status;
	} cases[] = {
		{"cm reject\n", RDMA_CM_EVENT_REJECTED, 28},
		{"cm reject status=10\n", RDMA_CM_EVENT_REJECTED, 10},
		{"cm unreachable\n", RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT},
	};
	struct server server = server_start('a');
	struct rdma_conn_param param = {.initiator_depth = 1, .responder_resources = 1};
	struct end end;

	for (int i = 0; i < 3; i++) {
		faults(cases[i].line);
		end_make(&end, NULL);
		end_resolve(&end, server.port);
		EQUAL(rdma_connect(end.id, &param), 0);
		expect_event(end.events, cases[i].event, cases[i].status);
		end_close(&end);
	}
	faults("cm silent nth=1\n");
	end_make(&end, NULL);
	end_resolve(&end, server.port);
	EQUAL(rdma_connect(end.id, &param), 0);
	CHECK(!next_event(end.events, 300));
	end_close(&end);
	client(&end, &server); /* the second connect is answered */
	server_command(&server, 'p');
	faults("disconnect\n");
	expect_event(end.events, RDMA_CM_EVENT_DISCONNECTED, 0);
	/* the peer drops the connection too, and this side may still be on its way */
	for (int i = 0; i < 1000 && end.id->qp->state != IBV_QPS_ERR; i++)
		usleep(1000);
	EQUAL(end.id->qp->state, IBV_QPS_ERR);
	end_close(&end);
	server_stop(&server);
}

static double time_reads(struct end *end, int count, uint32_t bytes)
{
	double start = seconds();

	for (int i = 0; i < count; i++)
		EQUAL(post_read(end, (uint64_t)i, end->remote, end->rkey, bytes, IBV_SEND_SIGNALED), 0);
	for (int i = 0; i < count; i++)
		expect_wc(end, (uint64_t)i, IBV_WC_SUCCESS);
	return seconds() - start;
}

static void models(void)
{
	struct server server = server_start('a');
	struct end end;
	struct ibv_wc wc;

	client(&end, &server);
	faults("model latency_us=20000 gbps=100\n");
	double one = time_reads(&end, 1, 8), many = time_reads(&end, 16, 8);
	CHECK(one >= 0.02);
	CHECK(many >= 0.02 && many < 0.16); /* they overlap: one after the other would take 0.32 s */
	faults("model gbps=0.1\n");
	CHECK(time_reads(&end, 4, 1000000) >= 0.32); /* the link is shared */
	faults("model instant\n");
	usleep(100000);
	EQUAL(post_read(&end, 1, end.remote, end.rkey, 4096, IBV_SEND_SIGNALED), 0);
	EQUAL(ibv_poll_cq(end.cq, 1, &wc), 1);
	EQUAL(wc.status, IBV_WC_SUCCESS);
	EQUAL(end.buffer[1], pattern(1));
	faults("model instant nocopy\n");
	usleep(100000);
	end.buffer[1] = 0;
	EQUAL(post_read(&end, 2, end.remote, end.rkey + 1, 4096, IBV_SEND_SIGNALED), 0);
	EQUAL(ibv_poll_cq(end.cq, 1, &wc), 1);
	EQUAL(wc.status, IBV_WC_SUCCESS);
	EQUAL(end.buffer[1], 0);
	end_close(&end);
	server_stop(&server);
}

/* From the environment, before anything is loaded. */
static void environment(void)
{
	struct ibv_device_attr attr;
	struct ibv_port_attr port;
	struct end end;

	setenv("VERBATIM_STANDIN_FAULTS", "create_qp errno=ENOMEM;port down", 1);
	setenv("VERBATIM_STANDIN_LIMITS", "max_msg_sz=65536 max_mr=1 max_rd_atom=4", 1);
	setenv("VERBATIM_STANDIN_ADDRESS", "127.0.0.9", 1);
	end_make(&end, "127.0.0.9");
	EQUAL(ibv_query_device(end.id->verbs, &attr), 0);
	EQUAL(attr.max_mr, 1);
	EQUAL(attr.max_qp_rd_atom, 4);
	EQUAL(ibv_query_port(end.id->verbs, 1, &port), 0);
	EQUAL(port.max_msg_sz, 65536);
	EQUAL(port.state, IBV_PORT_DOWN);
	CHECK((end.pd = ibv_alloc_pd(end.id->verbs)));
	CHECK((end.cq = ibv_create_cq(end.id->verbs, 8, NULL, NULL, 0)));
	struct ibv_qp_init_attr init = {.send_cq = end.cq, .recv_cq = end.cq, .qp_type = IBV_QPT_RC};
	EQUAL(rdma_create_qp(end.id, end.pd, &init), -1);
	EQUAL(errno, ENOMEM);
	static uint8_t page[4096];
	CHECK((end.mr = ibv_reg_mr(end.pd, page, sizeof page, IBV_ACCESS_REMOTE_READ)));
	CHECK(!ibv_reg_mr(end.pd, page, sizeof page, IBV_ACCESS_REMOTE_READ) && errno == ENOMEM);
	end_close(&end);
}

const struct test fault_tests[] = {
	{"fault: nth registration", nth_registration},
	{"fault: slow registration", slow_registration},
	{"fault: of another process or size", other_process},
	{"fault: status of a READ", read_status},
	{"fault: READ dropped or late", read_drop_and_delay},
	{"fault: READ corrupt", read_corrupt},
	{"fault: port down and up", port_flap},
	{"fault: device events", device_events},
	{"fault: no device", absent},
	{"fault: connecting", cm_faults},
	{"model of a network card", models},
	{"settings from the environment", environment},
	{NULL, NULL},
};
