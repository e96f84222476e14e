/* READ: data, completions, and every reason to refuse it. */
#include "check.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>

static void device(void)
{
	int count;
	struct ibv_device **list = ibv_get_device_list(&count);
	struct ibv_port_attr port;
	struct ibv_device_attr attr;
	struct ibv_gid_entry entries[16];

	EQUAL(count, 1);
	EQUAL(strcmp(ibv_get_device_name(list[0]), "standin0"), 0);
	struct ibv_context *context = ibv_open_device(list[0]);
	CHECK(context);
	ibv_free_device_list(list);
	EQUAL(ibv_query_device(context, &attr), 0);
	EQUAL(attr.max_qp_rd_atom, 16);
	EQUAL(ibv_query_port(context, 1, &port), 0);
	EQUAL(port.state, IBV_PORT_ACTIVE);
	EQUAL(port.link_layer, IBV_LINK_LAYER_ETHERNET);
	EQUAL(port.active_mtu, IBV_MTU_4096);
	EQUAL(ibv_query_port(context, 2, &port), EINVAL);
	EQUAL(ibv_query_gid_table(context, entries, 16, 0), 4);
	EQUAL(entries[3].gid_type, IBV_GID_TYPE_ROCE_V2);
	EQUAL(entries[3].gid.raw[12], 127);
	CHECK(entries[3].ndev_ifindex);
	EQUAL(fcntl(context->async_fd, F_SETFL, O_NONBLOCK), 0);
	struct ibv_async_event event;
	EQUAL(ibv_get_async_event(context, &event), -1);
	EQUAL(errno, EAGAIN);
	EQUAL(ibv_close_device(context), 0);
	expect_counters("contexts", 0);
}

static void verify(struct end *end, uint64_t from, uint32_t length)
{
	for (uint32_t i = 0; i < length; i++)
		EQUAL(end->buffer[i], pattern(from + i));
}

static void sizes(void)
{
	static const uint32_t lengths[] = {0, 1, 8, 4095, 4096, 65537, (1u << 20) + 3, BUFFER - 77};
	struct server server = server_start('a');
	struct end end;

	client(&end, &server);
	for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
		memset(end.buffer, 0, BUFFER);
		EQUAL(post_read(&end, i, end.remote + 77, end.rkey, lengths[i], IBV_SEND_SIGNALED), 0);
		struct ibv_wc wc = wait_wc(&end, 5000);
		EQUAL(wc.status, IBV_WC_SUCCESS);
		EQUAL(wc.wr_id, i);
		EQUAL(wc.opcode, IBV_WC_RDMA_READ);
		EQUAL(wc.byte_len, lengths[i]);
		verify(&end, 77, lengths[i]);
		CHECK(lengths[i] == BUFFER - 77 || end.buffer[lengths[i]] == 0);
	}
	end_close(&end);
	server_stop(&server);
	expect_counters("reads", sizeof lengths / sizeof *lengths);
	expect_counters("mrs qps cqs pds cm_ids", 0);
}

/* A chain of scattered READs, the last one signalled: one completion, all the data. */
static void chain(void)
{
	struct server server = server_start('a');
	struct end end;
	struct ibv_sge sges[8][2];
	struct ibv_send_wr wrs[8] = {0}, *bad;

	client(&end, &server);
	for (uint32_t i = 0; i < 8; i++) {
		sges[i][0] = (struct ibv_sge){BASE + i * 1000, 300, end.mr->lkey};
		sges[i][1] = (struct ibv_sge){BASE + i * 1000 + 300, 700, end.mr->lkey};
		wrs[i].wr_id = i;
		wrs[i].next = i < 7 ? &wrs[i + 1] : NULL;
		wrs[i].sg_list = sges[i];
		wrs[i].num_sge = 2;
		wrs[i].opcode = IBV_WR_RDMA_READ;
		wrs[i].send_flags = i == 7 ? IBV_SEND_SIGNALED : 0;
		wrs[i].wr.rdma.remote_addr = end.remote + 500 + i * 1000;
		wrs[i].wr.rdma.rkey = end.rkey;
	}
	EQUAL(ibv_post_send(end.id->qp, wrs, &bad), 0);
	expect_wc(&end, 7, IBV_WC_SUCCESS);
	verify(&end, 500, 8000);
	struct ibv_wc wc;
	EQUAL(ibv_poll_cq(end.cq, 1, &wc), 0);
	end_close(&end);
	server_stop(&server);
	expect_counters("doorbells", 1);
}

/* The send queue is full until a completion that covers its entries has been polled. */
static void full_queue(void)
{
	struct server server = server_start('a');
	struct end end;

	client(&end, &server);
	for (uint64_t i = 0; i < 16; i++)
		EQUAL(post_read(&end, i, end.remote, end.rkey, 8, i == 15 ? IBV_SEND_SIGNALED : 0), 0);
	usleep(50000);
	EQUAL(post_read(&end, 16, end.remote, end.rkey, 8, 0), ENOMEM);
	expect_wc(&end, 15, IBV_WC_SUCCESS);
	EQUAL(post_read(&end, 17, end.remote, end.rkey, 8, IBV_SEND_SIGNALED), 0);
	expect_wc(&end, 17, IBV_WC_SUCCESS);
	end_close(&end);
	server_stop(&server);
}

/* Refused with the given status; what was posted with it and after it is flushed. */
static void refused(char mode, int64_t offset, uint32_t key_change, uint32_t length, enum ibv_wc_status status)
{
	struct server server = server_start(mode);
	struct end end;

	client(&end, &server);
	EQUAL(post_read(&end, 1, end.remote + (uint64_t)offset, end.rkey ^ key_change, length, 0), 0);
	EQUAL(post_read(&end, 2, end.remote, end.rkey, 8, 0), 0);
	expect_wc(&end, 1, status);
	expect_wc(&end, 2, IBV_WC_WR_FLUSH_ERR);
	EQUAL(end.id->qp->state, IBV_QPS_ERR);
	EQUAL(post_read(&end, 3, end.remote, end.rkey, 8, 0), 0);
	expect_wc(&end, 3, IBV_WC_WR_FLUSH_ERR);
	end_close(&end);
	server_stop(&server);
	expect_counters("read_errors", 1);
	expect_counters("flushed", 2);
}

static void wrong_key(void)
{
	refused('a', 0, 1, 8, IBV_WC_REM_ACCESS_ERR);
}

static void stale_key(void)
{
	refused('a', 0, 0x100, 8, IBV_WC_REM_ACCESS_ERR);
}

static void beyond_end(void)
{
	refused('a', BUFFER - 7, 0, 8, IBV_WC_REM_ACCESS_ERR);
}

static void before_start(void)
{
	refused('a', -1, 0, 8, IBV_WC_REM_ACCESS_ERR);
}

static void no_remote_read(void)
{
	refused('n', 0, 0, 8, IBV_WC_REM_ACCESS_ERR);
}

static void no_depth(void)
{
	/* the peer grants no READs at all: this side may not issue any */
	refused('0', 0, 0, 8, IBV_WC_LOC_QP_OP_ERR);
}

static void local_range(void)
{
	refused('a', 0, 0, BUFFER + 1, IBV_WC_LOC_PROT_ERR);
}

static void deregistered(void)
{
	struct server server = server_start('a');
	struct end end;

	client(&end, &server);
	for (uint64_t i = 0; i < 8; i++)
		EQUAL(post_read(&end, i, end.remote, end.rkey, BUFFER, IBV_SEND_SIGNALED), 0);
	server_command(&server, 'd');
	EQUAL(post_read(&end, 8, end.remote, end.rkey, 8, IBV_SEND_SIGNALED), 0);
	bool failed = false;
	for (uint64_t i = 0; i < 9; i++) {
		struct ibv_wc wc = wait_wc(&end, 5000);
		EQUAL(wc.wr_id, i);
		if (failed)
			EQUAL(wc.status, IBV_WC_WR_FLUSH_ERR);
		else if (wc.status)
			EQUAL(wc.status, IBV_WC_REM_ACCESS_ERR);
		failed |= wc.status != IBV_WC_SUCCESS;
	}
	CHECK(failed);
	end_close(&end);
	server_stop(&server);
}

static void killed_peer(void)
{
	struct server server = server_start('a');
	struct end end;

	client(&end, &server);
	EQUAL(post_read(&end, 1, end.remote, end.rkey, 8, IBV_SEND_SIGNALED), 0);
	expect_wc(&end, 1, IBV_WC_SUCCESS);
	server_kill(&server);
	EQUAL(post_read(&end, 2, end.remote, end.rkey, 8, IBV_SEND_SIGNALED), 0);
	expect_wc(&end, 2, IBV_WC_REM_ACCESS_ERR);
	expect_event(end.events, RDMA_CM_EVENT_DISCONNECTED, 0);
	expect_event(end.events, RDMA_CM_EVENT_TIMEWAIT_EXIT, 0);
	end_close(&end);
}

/* Armed once means one event, however many completions follow. */
static void notification(void)
{
	struct server server = server_start('a');
	struct end end;
	struct ibv_cq *cq;
	void *context;

	client(&end, &server);
	struct pollfd ready = {.fd = end.channel->fd, .events = POLLIN};
	EQUAL(fcntl(end.channel->fd, F_SETFL, O_NONBLOCK), 0);
	EQUAL(ibv_get_cq_event(end.channel, &cq, &context), -1);
	EQUAL(errno, EAGAIN);
	EQUAL(post_read(&end, 1, end.remote, end.rkey, 8, IBV_SEND_SIGNALED), 0);
	EQUAL(poll(&ready, 1, 100), 0);
	EQUAL(ibv_req_notify_cq(end.cq, 0), 0);
	EQUAL(poll(&ready, 1, 100), 0); /* the completion was there before */
	for (uint64_t i = 2; i < 5; i++)
		EQUAL(post_read(&end, i, end.remote, end.rkey, 8, IBV_SEND_SIGNALED), 0);
	EQUAL(poll(&ready, 1, 5000), 1);
	EQUAL(ibv_get_cq_event(end.channel, &cq, &context), 0);
	CHECK(cq == end.cq && context == &end);
	EQUAL(poll(&ready, 1, 100), 0);
	ibv_ack_cq_events(cq, 1);
	for (uint64_t i = 1; i < 5; i++)
		expect_wc(&end, i, IBV_WC_SUCCESS);
	/* solicited only: a success is silent, a failure is not */
	EQUAL(ibv_req_notify_cq(end.cq, 1), 0);
	EQUAL(post_read(&end, 5, end.remote, end.rkey, 8, IBV_SEND_SIGNALED), 0);
	EQUAL(poll(&ready, 1, 100), 0);
	EQUAL(post_read(&end, 6, end.remote, 0, 8, IBV_SEND_SIGNALED), 0);
	EQUAL(poll(&ready, 1, 5000), 1);
	end_close(&end); /* takes the event away with the queue */
	server_stop(&server);
}

/* Two regions of different protection domains: the connection's one only. */
static void other_domain(void)
{
	struct server server = server_start('a');
	struct end end;

	client(&end, &server);
	struct ibv_pd *pd = ibv_alloc_pd(end.id->verbs);
	struct ibv_mr *mr = ibv_reg_mr_iova(pd, end.buffer, BUFFER, BASE, IBV_ACCESS_LOCAL_WRITE);
	CHECK(pd && mr);
	struct ibv_sge sge = {BASE, 8, mr->lkey};
	struct ibv_send_wr wr = {.wr_id = 5, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_READ,
				 .wr.rdma = {end.remote, end.rkey}}, *bad;
	EQUAL(ibv_post_send(end.id->qp, &wr, &bad), 0);
	expect_wc(&end, 5, IBV_WC_LOC_PROT_ERR);
	EQUAL(ibv_dealloc_pd(pd), EBUSY);
	EQUAL(ibv_dereg_mr(mr), 0);
	EQUAL(ibv_dealloc_pd(pd), 0);
	end_close(&end);
	server_stop(&server);
}

static void registration(void)
{
	struct end end;

	end_make(&end, "127.0.0.1");
	end_setup(&end, IBV_ACCESS_REMOTE_READ, 4);
	uint8_t *page = end.buffer;
	errno = 0;
	CHECK(!ibv_reg_mr(end.pd, (void *)4096, 4096, IBV_ACCESS_REMOTE_READ) && errno == EFAULT);
	CHECK(!ibv_reg_mr(end.pd, page, 0, IBV_ACCESS_REMOTE_READ) && errno == EINVAL);
	CHECK(!ibv_reg_mr(end.pd, page, 4096, IBV_ACCESS_REMOTE_WRITE) && errno == EINVAL);
	/* pages that cannot be written can be registered for reading only */
	void *fixed = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(!ibv_reg_mr(end.pd, fixed, 4096, IBV_ACCESS_LOCAL_WRITE) && errno == EFAULT);
	struct ibv_mr *readable = ibv_reg_mr(end.pd, fixed, 4096, IBV_ACCESS_REMOTE_READ);
	CHECK(readable);
	EQUAL(ibv_dereg_mr(readable), 0);
	munmap(fixed, 4096);
	struct ibv_mr *mr = ibv_reg_mr(end.pd, page + 5, 10, IBV_ACCESS_REMOTE_READ);
	CHECK(mr && mr->lkey == mr->rkey && mr->length == 10);
	uint32_t before = mr->rkey;
	EQUAL(ibv_dereg_mr(mr), 0);
	CHECK((mr = ibv_reg_mr(end.pd, page, 10, IBV_ACCESS_REMOTE_READ)) && mr->rkey != before);
	EQUAL(ibv_dereg_mr(mr), 0);
	end_close(&end);
}

const struct test read_tests[] = {
	{"device, port and GIDs", device},
	{"registration", registration},
	{"READ of every size", sizes},
	{"READ chain, last one signalled", chain},
	{"READ with a full send queue", full_queue},
	{"READ with a wrong rkey", wrong_key},
	{"READ with another region's rkey", stale_key},
	{"READ beyond the end", beyond_end},
	{"READ before the start", before_start},
	{"READ without REMOTE_READ access", no_remote_read},
	{"READ without granted depth", no_depth},
	{"READ into a range that is not registered", local_range},
	{"READ into another protection domain", other_domain},
	{"READ while deregistering", deregistered},
	{"READ from a killed process", killed_peer},
	{"completion notification", notification},
	{NULL, NULL},
};
