/*
 * What one READ costs the thread that posts and polls, in C: the counterpart of ReadCost.java. Both ends of the connection are
 * in this process. A batch is built from its descriptors and posted with one doorbell. A work request is signalled at each quarter
 * of the send queue and at the batch's end, as the transport does; the callback of the last completion posts the next batch.
 *
 * Usage: read_cost SIZE BATCH READS DEPTH    Prints nanoseconds of CPU per READ. DEPTH is the send queue's, work requests.
 */
#include <arpa/inet.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#define MOST_BATCH 64
#define CONNECTIONS 1024 /* that the completion queue has room for, as the transport's */
#define COMPLETIONS 64

#define CHECK(condition)                                                          \
	do {                                                                      \
		if (!(condition)) {                                               \
			fprintf(stderr, "%s:%d: " #condition "\n", __FILE__, __LINE__); \
			exit(1);                                                  \
		}                                                                 \
	} while (0)

struct side {
	struct rdma_event_channel *events;
	struct rdma_cm_id *id;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
};

/* One READ that is wanted. */
struct descriptor {
	uint64_t iova;
	uint64_t address;
	uint32_t length;
	uint32_t rkey;
	uint32_t lkey;
};

struct batch {
	struct descriptor reads[MOST_BATCH];
	int size;
	void (*ended)(struct batch *batch, enum ibv_wc_status status);
};

static struct side server, client;
static struct rdma_cm_id *listener;
static struct ibv_send_wr requests[MOST_BATCH];
static struct ibv_sge entries[MOST_BATCH];
static uint64_t left;
static int batch_size;
static int depth;
static int signal_every;
static uint32_t read_bytes;

static struct rdma_cm_event take(struct rdma_event_channel *events, enum rdma_cm_event_type wanted)
{
	struct rdma_cm_event *event;

	CHECK(!rdma_get_cm_event(events, &event));
	CHECK(event->event == wanted);
	struct rdma_cm_event copy = *event;
	rdma_ack_cm_event(event);
	return copy;
}

static void set_up(struct side *side, int access)
{
	size_t bytes = (size_t)MOST_BATCH << 16;
	struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_RC,
					.cap = {.max_send_wr = (uint32_t)depth, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1}};

	CHECK((side->pd = ibv_alloc_pd(side->id->verbs)));
	CHECK((side->cq = ibv_create_cq(side->id->verbs, CONNECTIONS * depth, NULL, NULL, 0)));
	init.send_cq = init.recv_cq = side->cq;
	CHECK(!rdma_create_qp(side->id, side->pd, &init));
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(memory != MAP_FAILED);
	CHECK((side->mr = ibv_reg_mr(side->pd, memory, bytes, access)));
}

static void *serve(void *unused)
{
	struct rdma_conn_param param = {.initiator_depth = 16, .responder_resources = 16};

	server.id = take(server.events, RDMA_CM_EVENT_CONNECT_REQUEST).id;
	set_up(&server, IBV_ACCESS_REMOTE_READ);
	CHECK(!rdma_accept(server.id, &param));
	take(server.events, RDMA_CM_EVENT_ESTABLISHED);
	return unused;
}

static void join_sides(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct rdma_conn_param param = {.initiator_depth = 16, .responder_resources = 16, .retry_count = 6};
	pthread_t accepting;

	CHECK((server.events = rdma_create_event_channel()) && (client.events = rdma_create_event_channel()));
	CHECK(!rdma_create_id(server.events, &listener, NULL, RDMA_PS_TCP));
	CHECK(!rdma_bind_addr(listener, (struct sockaddr *)&address) && !rdma_listen(listener, 1));
	CHECK(!pthread_create(&accepting, NULL, serve, NULL));
	address.sin_port = rdma_get_src_port(listener);
	CHECK(!rdma_create_id(client.events, &client.id, NULL, RDMA_PS_TCP));
	CHECK(!rdma_resolve_addr(client.id, NULL, (struct sockaddr *)&address, 1000));
	take(client.events, RDMA_CM_EVENT_ADDR_RESOLVED);
	CHECK(!rdma_resolve_route(client.id, 1000));
	take(client.events, RDMA_CM_EVENT_ROUTE_RESOLVED);
	set_up(&client, IBV_ACCESS_LOCAL_WRITE);
	CHECK(!rdma_connect(client.id, &param));
	take(client.events, RDMA_CM_EVENT_ESTABLISHED);
	pthread_join(accepting, NULL);
}

static void post(struct batch *batch)
{
	struct ibv_send_wr *bad;
	int unsignalled = 0;

	for (int i = 0; i < batch->size; i++) {
		const struct descriptor *read = &batch->reads[i];
		bool last = i + 1 == batch->size;
		bool signalled = last || ++unsignalled == signal_every;
		entries[i] = (struct ibv_sge){.addr = read->address, .length = read->length, .lkey = read->lkey};
		requests[i].wr_id = last ? (uintptr_t)batch : 0;
		requests[i].next = last ? NULL : &requests[i + 1];
		requests[i].sg_list = &entries[i];
		requests[i].num_sge = 1;
		requests[i].opcode = IBV_WR_RDMA_READ;
		requests[i].send_flags = signalled ? IBV_SEND_SIGNALED : 0;
		requests[i].wr.rdma.remote_addr = read->iova;
		requests[i].wr.rdma.rkey = read->rkey;
		if (signalled)
			unsignalled = 0;
	}
	CHECK(!ibv_post_send(client.id->qp, requests, &bad));
}

static void fill_and_post(struct batch *batch)
{
	batch->size = 0;
	for (int i = 0; i < batch_size; i++) {
		uint64_t offset = (uint64_t)i * read_bytes;
		batch->reads[batch->size++] = (struct descriptor){
			.iova = (uintptr_t)server.mr->addr + offset,
			.address = (uintptr_t)client.mr->addr + offset,
			.length = read_bytes,
			.rkey = server.mr->rkey,
			.lkey = client.mr->lkey,
		};
	}
	post(batch);
}

static void ended(struct batch *batch, enum ibv_wc_status status)
{
	CHECK(status == IBV_WC_SUCCESS);
	left -= (uint64_t)batch->size;
	if (left)
		fill_and_post(batch);
}

static void run(uint64_t reads)
{
	static struct batch batch = {.ended = ended};
	struct ibv_wc completions[COMPLETIONS];

	left = reads / (uint64_t)batch_size * (uint64_t)batch_size;
	fill_and_post(&batch);
	while (left) {
		int count = ibv_poll_cq(client.cq, COMPLETIONS, completions);
		CHECK(count >= 0);
		for (int i = 0; i < count; i++) {
			struct batch *done = (struct batch *)(uintptr_t)completions[i].wr_id;
			if (done)
				done->ended(done, completions[i].status);
			else
				CHECK(completions[i].status == IBV_WC_SUCCESS);
		}
	}
}

static double cpu_nanos(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

int main(int count, char **words)
{
	CHECK(count == 5);
	read_bytes = (uint32_t)strtoul(words[1], NULL, 10);
	batch_size = atoi(words[2]);
	uint64_t reads = strtoull(words[3], NULL, 10);
	depth = atoi(words[4]);
	signal_every = depth / 4;
	CHECK(read_bytes >= 1 && read_bytes <= 65536 && batch_size >= 1 && batch_size <= MOST_BATCH && reads >= MOST_BATCH);
	CHECK(batch_size <= depth && signal_every >= 1);
	join_sides();
	run(reads / 4); /* pages and caches */
	double start = cpu_nanos();
	run(reads);
	printf("%.2f\n", (cpu_nanos() - start) / (double)reads);
	return 0;
}
