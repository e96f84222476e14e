/* SEND, WRITE and atomics: data, both sides' completions, and every reason to refuse them. */
#include "check.h"

#include <arpa/inet.h>

/* Posts from, or to, the start of the client's buffer. */
static void post(struct end *end, struct ibv_send_wr wr, uint32_t length)
{
	struct ibv_sge sge = {.addr = BASE, .length = length, .lkey = end->mr->lkey};
	struct ibv_send_wr *bad;

	if (wr.send_flags & IBV_SEND_INLINE)
		sge = (struct ibv_sge){.addr = (uintptr_t)end->buffer, .length = length};
	wr.wr_id = 9;
	wr.sg_list = &sge;
	wr.num_sge = 1;
	wr.send_flags |= IBV_SEND_SIGNALED;
	EQUAL(ibv_post_send(end->id->qp, &wr, &bad), 0);
}

static void done(struct end *end, enum ibv_wc_opcode opcode)
{
	struct ibv_wc wc = wait_wc(end, 5000);

	EQUAL(wc.status, IBV_WC_SUCCESS);
	EQUAL(wc.wr_id, 9);
	EQUAL(wc.opcode, opcode);
}

static void mark(struct end *end, uint8_t seed, uint32_t length)
{
	for (uint32_t i = 0; i < length; i++)
		end->buffer[i] = (uint8_t)(pattern(i) ^ seed);
}

/* What the server has at an offset of its buffer is what was marked. */
static void marked(struct end *end, uint64_t at, uint8_t seed, uint32_t length)
{
	memset(end->buffer, 0, length);
	EQUAL(post_read(end, 1, end->remote + at, end->rkey, length, IBV_SEND_SIGNALED), 0);
	expect_wc(end, 1, IBV_WC_SUCCESS);
	for (uint32_t i = 0; i < length; i++)
		EQUAL(end->buffer[i], (uint8_t)(pattern(i) ^ seed));
}

static void begin(struct end *end, struct server *server, char mode)
{
	*server = server_start(mode);
	client(end, server);
}

static void finish(struct end *end, struct server *server)
{
	end_close(end);
	server_stop(server);
	expect_counters("mrs qps cqs pds cm_ids", 0);
}

static void message(void)
{
	struct server server;
	struct end end;

	begin(&end, &server, 'w');
	server_command(&server, 'R');
	server_command(&server, 'R');
	mark(&end, 1, RECEIVE);
	post(&end, (struct ibv_send_wr){.opcode = IBV_WR_SEND}, RECEIVE);
	done(&end, IBV_WC_SEND);
	server_command(&server, 'C');
	marked(&end, RECEIVE_AT, 1, RECEIVE);
	mark(&end, 2, RECEIVE);
	post(&end, (struct ibv_send_wr){.opcode = IBV_WR_SEND_WITH_IMM, .imm_data = htonl(IMMEDIATE)}, RECEIVE);
	done(&end, IBV_WC_SEND);
	server_command(&server, 'I');
	marked(&end, RECEIVE_AT, 2, RECEIVE);
	expect_counters("sends", 2);
	expect_counters("send_bytes", 2 * RECEIVE);
	finish(&end, &server);
}

/* The data are those of the moment of posting. */
static void inlined(void)
{
	struct server server;
	struct end end;
	struct ibv_sge sge = {.length = 65};
	struct ibv_send_wr longer = {.sg_list = &sge, .num_sge = 1, .send_flags = IBV_SEND_INLINE}, *bad;

	begin(&end, &server, 'w');
	mark(&end, 3, 64);
	post(&end, (struct ibv_send_wr){.opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_INLINE,
					.wr.rdma = {end.remote + 50, end.rkey}}, 64);
	memset(end.buffer, 0, 64);
	done(&end, IBV_WC_RDMA_WRITE);
	marked(&end, 50, 3, 64);
	EQUAL(ibv_post_send(end.id->qp, &longer, &bad), EINVAL);
	finish(&end, &server);
}

static void late_receive(void)
{
	struct server server;
	struct end end;

	begin(&end, &server, 'w');
	mark(&end, 4, RECEIVE);
	post(&end, (struct ibv_send_wr){.opcode = IBV_WR_SEND}, RECEIVE);
	EQUAL((int)wait_wc(&end, 100).status, -1);
	expect_counters("not_ready", 1);
	server_command(&server, 'R');
	done(&end, IBV_WC_SEND);
	server_command(&server, 'C');
	marked(&end, RECEIVE_AT, 4, RECEIVE);
	finish(&end, &server);
}

static void no_receive(void)
{
	struct server server;
	struct end end;

	begin(&end, &server, 'b');
	double start = seconds();
	post(&end, (struct ibv_send_wr){.opcode = IBV_WR_SEND}, 8);
	post(&end, (struct ibv_send_wr){.opcode = IBV_WR_SEND}, 8);
	expect_wc(&end, 9, IBV_WC_RNR_RETRY_EXC_ERR);
	CHECK(seconds() - start > 0.6); /* the delay of a peer that has set none is the longest */
	expect_wc(&end, 9, IBV_WC_WR_FLUSH_ERR);
	expect_counters("not_ready", 2);
	finish(&end, &server);
}

static void long_message(void)
{
	struct server server;
	struct end end;

	begin(&end, &server, 'w');
	server_command(&server, 'R');
	post(&end, (struct ibv_send_wr){.opcode = IBV_WR_SEND}, RECEIVE + 1);
	expect_wc(&end, 9, IBV_WC_REM_INV_REQ_ERR);
	server_command(&server, 'E');
	finish(&end, &server);
}

static void written(void)
{
	struct server server;
	struct end end;
	uint32_t length = (1u << 20) + 3;

	begin(&end, &server, 'w');
	mark(&end, 5, length);
	post(&end, (struct ibv_send_wr){.opcode = IBV_WR_RDMA_WRITE, .wr.rdma = {end.remote + 77, end.rkey}}, length);
	done(&end, IBV_WC_RDMA_WRITE);
	marked(&end, 77, 5, length);
	server_command(&server, 'R');
	mark(&end, 6, RECEIVE);
	post(&end, (struct ibv_send_wr){.opcode = IBV_WR_RDMA_WRITE_WITH_IMM, .imm_data = htonl(IMMEDIATE),
					.wr.rdma = {end.remote + 99, end.rkey}}, RECEIVE);
	done(&end, IBV_WC_RDMA_WRITE);
	server_command(&server, 'W');
	marked(&end, 99, 6, RECEIVE);
	expect_counters("writes", 2);
	expect_counters("write_bytes", length + RECEIVE);
	finish(&end, &server);
}

static void no_remote_write(void)
{
	struct server server;
	struct end end;

	begin(&end, &server, 'a');
	post(&end, (struct ibv_send_wr){.opcode = IBV_WR_RDMA_WRITE, .wr.rdma = {end.remote, end.rkey}}, 8);
	expect_wc(&end, 9, IBV_WC_REM_ACCESS_ERR);
	finish(&end, &server);
}

static uint64_t word(struct end *end)
{
	uint64_t value;

	memcpy(&value, end->buffer, sizeof value);
	return value;
}

static void atomics(void)
{
	struct server server;
	struct end end;
	uint64_t start = 40;

	begin(&end, &server, 'w');
	memcpy(end.buffer, &start, sizeof start);
	post(&end, (struct ibv_send_wr){.opcode = IBV_WR_RDMA_WRITE, .wr.rdma = {end.remote + 64, end.rkey}}, 8);
	done(&end, IBV_WC_RDMA_WRITE);
	struct ibv_send_wr wr = {.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
				 .wr.atomic = {.remote_addr = end.remote + 64, .compare_add = 2, .rkey = end.rkey}};
	post(&end, wr, 8);
	done(&end, IBV_WC_FETCH_ADD);
	EQUAL(word(&end), 40);
	wr.opcode = IBV_WR_ATOMIC_CMP_AND_SWP;
	wr.wr.atomic.compare_add = 41;
	wr.wr.atomic.swap = 50;
	for (uint64_t expected = 41; expected <= 42; expected++) { /* the first one is wrong */
		wr.wr.atomic.compare_add = expected;
		post(&end, wr, 8);
		done(&end, IBV_WC_COMP_SWAP);
		EQUAL(word(&end), 42);
	}
	EQUAL(post_read(&end, 2, end.remote + 64, end.rkey, 8, IBV_SEND_SIGNALED), 0);
	expect_wc(&end, 2, IBV_WC_SUCCESS);
	EQUAL(word(&end), 50);
	expect_counters("atomics", 3);
	wr.wr.atomic.remote_addr += 4;
	post(&end, wr, 8);
	expect_wc(&end, 9, IBV_WC_REM_INV_REQ_ERR);
	finish(&end, &server);
}

static void no_remote_atomic(void)
{
	struct server server;
	struct end end;

	begin(&end, &server, 'a');
	post(&end, (struct ibv_send_wr){.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
					.wr.atomic = {.remote_addr = end.remote, .rkey = end.rkey}}, 8);
	expect_wc(&end, 9, IBV_WC_REM_ACCESS_ERR);
	finish(&end, &server);
}

/* The server ends while it has a receive posted, and the client while it sends. */
static void ends_with_receive(void)
{
	struct server server;
	struct end end;

	begin(&end, &server, 'w');
	server_command(&server, 'R');
	server_command(&server, 'R');
	for (int i = 0; i < 3; i++)
		post(&end, (struct ibv_send_wr){.opcode = IBV_WR_SEND}, RECEIVE);
	done(&end, IBV_WC_SEND);
	done(&end, IBV_WC_SEND);
	finish(&end, &server);
}

const struct test send_tests[] = {
	{"SEND, with immediate data too", message},
	{"inline data", inlined},
	{"SEND before the receive", late_receive},
	{"SEND without a receive", no_receive},
	{"SEND of more than the receive takes", long_message},
	{"WRITE, with immediate data too", written},
	{"WRITE without REMOTE_WRITE access", no_remote_write},
	{"atomic operations", atomics},
	{"atomic operations without REMOTE_ATOMIC", no_remote_atomic},
	{"SEND while both sides end", ends_with_receive},
	{NULL, NULL},
};
