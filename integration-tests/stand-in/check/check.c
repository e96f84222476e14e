/* Runs every test in a process and a folder of its own; holds the client and the server that the tests use. */
#define _GNU_SOURCE
#include "check.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

static char folder[64];

void check_failed(const char *file, int line, const char *what, long long got, long long wanted)
{
	fprintf(stderr, "%s:%d: failed: %s (%lld, %lld)\n", file, line, what, got, wanted);
	fflush(NULL);
	_exit(1);
}

double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

uint8_t pattern(uint64_t offset)
{
	return (uint8_t)(offset * 31 + (offset >> 9));
}

struct rdma_cm_event *next_event(struct rdma_event_channel *channel, int timeout_ms)
{
	struct pollfd ready = {.fd = channel->fd, .events = POLLIN};
	struct rdma_cm_event *event;

	if (poll(&ready, 1, timeout_ms) != 1)
		return NULL;
	EQUAL(rdma_get_cm_event(channel, &event), 0);
	return event;
}

void expect_event(struct rdma_event_channel *channel, enum rdma_cm_event_type type, int status)
{
	struct rdma_cm_event *event = next_event(channel, 5000);

	CHECK(event);
	EQUAL(event->event, type);
	EQUAL(event->status, status);
	EQUAL(rdma_ack_cm_event(event), 0);
}

void end_make(struct end *end, const char *address)
{
	struct sockaddr_in source = {.sin_family = AF_INET};

	memset(end, 0, sizeof *end);
	CHECK((end->events = rdma_create_event_channel()));
	EQUAL(rdma_create_id(end->events, &end->id, end, RDMA_PS_TCP), 0);
	if (address) {
		inet_pton(AF_INET, address, &source.sin_addr);
		EQUAL(rdma_bind_addr(end->id, (struct sockaddr *)&source), 0);
		CHECK(end->id->verbs && end->id->port_num == 1 && rdma_get_src_port(end->id));
	}
}

void end_resolve(struct end *end, uint16_t port)
{
	struct sockaddr_in target = {.sin_family = AF_INET, .sin_port = htons(port)};

	target.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	EQUAL(rdma_resolve_addr(end->id, NULL, (struct sockaddr *)&target, 1000), 0);
	expect_event(end->events, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
	EQUAL(rdma_resolve_route(end->id, 1000), 0);
	expect_event(end->events, RDMA_CM_EVENT_ROUTE_RESOLVED, 0);
}

void end_setup(struct end *end, int access, int send_wr)
{
	CHECK((end->pd = ibv_alloc_pd(end->id->verbs)));
	CHECK((end->channel = ibv_create_comp_channel(end->id->verbs)));
	CHECK((end->cq = ibv_create_cq(end->id->verbs, 256, end, end->channel, 0)));
	struct ibv_qp_init_attr init = {
		.send_cq = end->cq,
		.recv_cq = end->cq,
		.qp_type = IBV_QPT_RC,
		.cap = {.max_send_wr = (uint32_t)send_wr, .max_recv_wr = 4, .max_send_sge = 4, .max_recv_sge = 2,
			.max_inline_data = 64},
	};
	EQUAL(rdma_create_qp(end->id, end->pd, &init), 0);
	EQUAL(end->id->qp->state, IBV_QPS_INIT);
	uint8_t *mapped = mmap(NULL, BUFFER + 2 * MARGIN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(mapped != MAP_FAILED);
	end->buffer = mapped + MARGIN;
	CHECK((end->mr = ibv_reg_mr_iova(end->pd, end->buffer, BUFFER, BASE, access)));
}

void end_connect(struct end *end, uint16_t port)
{
	struct rdma_conn_param param = {.initiator_depth = 16, .responder_resources = 16, .retry_count = 6};
	struct published published;

	end_resolve(end, port);
	if (!end->id->qp)
		end_setup(end, IBV_ACCESS_LOCAL_WRITE, 16);
	EQUAL(rdma_connect(end->id, &param), 0);
	struct rdma_cm_event *event = next_event(end->events, 5000);
	CHECK(event);
	EQUAL(event->event, RDMA_CM_EVENT_ESTABLISHED);
	EQUAL(event->param.conn.private_data_len, 196);
	memcpy(&published, event->param.conn.private_data, sizeof published);
	end->remote = published.iova;
	end->rkey = (uint32_t)published.rkey;
	rdma_ack_cm_event(event);
}

void end_unmap(struct end *end)
{
	if (end->buffer)
		munmap(end->buffer - MARGIN, BUFFER + 2 * MARGIN);
	end->buffer = NULL;
}

void end_close(struct end *end)
{
	rdma_disconnect(end->id);
	if (end->id->qp)
		rdma_destroy_qp(end->id);
	EQUAL(rdma_destroy_id(end->id), 0);
	if (end->mr)
		EQUAL(ibv_dereg_mr(end->mr), 0);
	if (end->cq)
		EQUAL(ibv_destroy_cq(end->cq), 0);
	if (end->channel)
		EQUAL(ibv_destroy_comp_channel(end->channel), 0);
	if (end->pd)
		EQUAL(ibv_dealloc_pd(end->pd), 0);
	rdma_destroy_event_channel(end->events);
	end_unmap(end);
}

void client(struct end *end, struct server *server)
{
	end_make(end, NULL);
	end_connect(end, server->port);
}

int post_read(struct end *end, uint64_t id, uint64_t remote, uint32_t rkey, uint32_t length, int flags)
{
	struct ibv_sge sge = {.addr = BASE, .length = length, .lkey = end->mr->lkey};
	struct ibv_send_wr wr = {
		.wr_id = id,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_READ,
		.send_flags = (unsigned)flags,
		.wr.rdma = {.remote_addr = remote, .rkey = rkey},
	};
	struct ibv_send_wr *bad = NULL;
	int error = ibv_post_send(end->id->qp, &wr, &bad);

	CHECK(!error || bad == &wr);
	return error;
}

struct ibv_wc wait_wc(struct end *end, int timeout_ms)
{
	double until = seconds() + timeout_ms / 1e3;
	struct ibv_wc wc = {.status = (enum ibv_wc_status)-1};

	while (ibv_poll_cq(end->cq, 1, &wc) == 0 && seconds() < until)
		usleep(100);
	return wc;
}

void expect_wc(struct end *end, uint64_t id, enum ibv_wc_status status)
{
	struct ibv_wc wc = wait_wc(end, 5000);

	EQUAL(wc.status, status);
	EQUAL(wc.wr_id, id);
	EQUAL(wc.qp_num, end->id->qp->qp_num);
}

struct ibv_async_event wait_async(struct ibv_context *context, int timeout_ms)
{
	struct pollfd ready = {.fd = context->async_fd, .events = POLLIN};
	struct ibv_async_event event = {.event_type = (enum ibv_event_type)-1};

	if (poll(&ready, 1, timeout_ms) == 1) {
		EQUAL(ibv_get_async_event(context, &event), 0);
		ibv_ack_async_event(&event);
	}
	return event;
}

void faults(const char *lines)
{
	char path[128], temporary[128];

	snprintf(path, sizeof path, "%s/faults", folder);
	snprintf(temporary, sizeof temporary, "%s/faults.new", folder);
	FILE *file = fopen(temporary, "w");
	CHECK(file);
	fputs(lines, file);
	fclose(file);
	EQUAL(rename(temporary, path), 0);
}

static long long sum_counters(const char *names)
{
	char path[128], word[64], list[256];
	long long value, sum = 0;

	snprintf(path, sizeof path, "%s/counters/%d", folder, (int)getpid());
	snprintf(list, sizeof list, " %s ", names);
	FILE *file = fopen(path, "r");
	if (!file)
		return -1;
	while (fscanf(file, "%63s %lld", word, &value) == 2) {
		char spaced[80];
		snprintf(spaced, sizeof spaced, " %s ", word);
		if (strstr(list, spaced))
			sum += value;
	}
	fclose(file);
	return sum;
}

void expect_counters(const char *names, long long wanted)
{
	double until = seconds() + 5;

	usleep(50000); /* what is there now might still change */
	while (sum_counters(names) != wanted && seconds() < until)
		usleep(10000);
	if (sum_counters(names) != wanted)
		check_failed(__FILE__, __LINE__, names, sum_counters(names), wanted);
}

static int access_of(char mode)
{
	switch (mode) {
	case 'n':
		return 0;
	case 'w':
	case 'b':
		return IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE |
		       IBV_ACCESS_REMOTE_ATOMIC;
	default:
		return IBV_ACCESS_REMOTE_READ;
	}
}

static void post_receive(struct end *end)
{
	struct ibv_sge sges[] = {{BASE + RECEIVE_AT, RECEIVE / 2, end->mr->lkey},
				 {BASE + RECEIVE_AT + RECEIVE / 2, RECEIVE / 2, end->mr->lkey}};
	struct ibv_recv_wr wr = {.wr_id = 77, .sg_list = sges, .num_sge = 2}, *bad;

	EQUAL(ibv_post_recv(end->id->qp, &wr, &bad), 0);
}

static void expect_receive(struct end *end, char command)
{
	struct ibv_wc wc = wait_wc(end, 5000);
	bool with = command == 'I' || command == 'W';

	EQUAL(wc.wr_id, 77);
	EQUAL(wc.status, command == 'E' ? IBV_WC_LOC_LEN_ERR : IBV_WC_SUCCESS);
	if (command == 'E')
		return;
	EQUAL(wc.opcode, command == 'W' ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV);
	EQUAL(wc.byte_len, RECEIVE);
	EQUAL(wc.wc_flags, with ? IBV_WC_WITH_IMM : 0);
	EQUAL(wc.imm_data, with ? htonl(IMMEDIATE) : 0);
}

static void serve(char mode, int commands, int answers)
{
	struct end listener, end = {0};
	struct rdma_conn_param param = {.initiator_depth = 4, .responder_resources = mode == '0' ? 0 : 16,
					.rnr_retry_count = mode == 'w' ? 7 : 1};

	end_make(&listener, "127.0.0.1");
	EQUAL(rdma_listen(listener.id, 16), 0);
	uint16_t port = ntohs(rdma_get_src_port(listener.id));
	EQUAL(write(answers, &port, sizeof port), sizeof port);
	struct rdma_cm_event *event = next_event(listener.events, 50000);
	if (event) {
		EQUAL(event->event, RDMA_CM_EVENT_CONNECT_REQUEST);
		EQUAL(event->param.conn.private_data_len, 56);
		CHECK(event->id->context == &listener && event->id->verbs && event->listen_id == listener.id);
		end.events = listener.events;
		end.id = event->id;
		rdma_ack_cm_event(event);
		if (mode == 'r') {
			EQUAL(rdma_reject(end.id, "no room", 8), 0);
		} else {
			end_setup(&end, access_of(mode), 4);
			for (uint64_t i = 0; i < BUFFER; i++)
				end.buffer[i] = pattern(i);
			struct published published = {BASE, end.mr->rkey};
			param.private_data = &published;
			param.private_data_len = sizeof published;
			EQUAL(rdma_accept(end.id, &param), 0);
			expect_event(listener.events, RDMA_CM_EVENT_ESTABLISHED, 0);
			EQUAL(end.id->qp->state, IBV_QPS_RTS);
		}
	}
	for (char command; read(commands, &command, 1) == 1;) {
		if (command == 'd') {
			EQUAL(ibv_dereg_mr(end.mr), 0);
			end.mr = NULL;
			end_unmap(&end);
		} else if (command == 'R') {
			post_receive(&end);
		} else if (command == 'C' || command == 'I' || command == 'W' || command == 'E') {
			expect_receive(&end, command);
		} else if (command == 'x') {
			EQUAL(rdma_disconnect(end.id), 0);
			expect_event(listener.events, RDMA_CM_EVENT_DISCONNECTED, 0);
			expect_event(listener.events, RDMA_CM_EVENT_TIMEWAIT_EXIT, 0);
		} else if (command == 'q') {
			if (end.id) {
				struct rdma_event_channel *shared = end.events;
				CHECK((end.events = rdma_create_event_channel()));
				EQUAL(rdma_migrate_id(end.id, end.events), 0);
				CHECK(shared == listener.events);
				end_close(&end);
			}
			end_close(&listener);
			expect_counters("mrs qps cqs pds cm_ids", 0);
		}
		EQUAL(write(answers, &command, 1), 1);
		if (command == 'q')
			break;
	}
	exit(0);
}

struct server server_start(char mode)
{
	int down[2], up[2];
	struct server server;

	EQUAL(pipe(down), 0);
	EQUAL(pipe(up), 0);
	fflush(NULL);
	server.pid = fork();
	if (server.pid == 0) {
		close(down[1]);
		close(up[0]);
		serve(mode, down[0], up[1]);
	}
	close(down[0]);
	close(up[1]);
	server.commands = down[1];
	server.answers = up[0];
	EQUAL(read(server.answers, &server.port, sizeof server.port), sizeof server.port);
	return server;
}

void server_command(struct server *server, char command)
{
	char answer;

	EQUAL(write(server->commands, &command, 1), 1);
	EQUAL(read(server->answers, &answer, 1), 1);
	EQUAL(answer, command);
}

void server_kill(struct server *server)
{
	EQUAL(kill(server->pid, SIGKILL), 0);
	EQUAL(waitpid(server->pid, NULL, 0), server->pid);
}

void server_stop(struct server *server)
{
	int status;

	server_command(server, 'q');
	EQUAL(waitpid(server->pid, &status, 0), server->pid);
	EQUAL(status, 0);
}

static void remove_folder(void)
{
	static const char *const parts[] = {"counters", "addresses", ""};
	char path[512];

	for (int i = 0; i < 3; i++) {
		snprintf(path, sizeof path, "%s/%s", folder, parts[i]);
		DIR *dir = opendir(path);
		for (struct dirent *entry; dir && (entry = readdir(dir));) {
			char file[800];
			snprintf(file, sizeof file, "%s/%s", path, entry->d_name);
			unlink(file);
		}
		if (dir)
			closedir(dir);
		rmdir(path);
	}
}

static bool run(const struct test *test)
{
	int status;

	strcpy(folder, "/tmp/standin-check-XXXXXX");
	CHECK(mkdtemp(folder));
	setenv("VERBATIM_STANDIN_DIR", folder, 1);
	fflush(NULL);
	double start = seconds();
	pid_t pid = fork();
	if (pid == 0) {
		setpgid(0, 0);
		alarm(60);
		test->run();
		exit(0);
	}
	waitpid(pid, &status, 0);
	kill(-pid, SIGKILL); /* servers of a test that failed */
	remove_folder();
	printf("%-40s %s %.2f s\n", test->name, status ? "FAILED" : "ok", seconds() - start);
	return status == 0;
}

int main(int argc, char **argv)
{
	const struct test *const groups[] = {read_tests, send_tests, cm_tests, fault_tests, stress_tests};
	int failed = 0;

	signal(SIGPIPE, SIG_IGN);
	for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
		for (const struct test *test = groups[i]; test->name; test++)
			if (argc < 2 || strstr(test->name, argv[1]))
				failed += !run(test);
	return failed != 0;
}
