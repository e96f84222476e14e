/* What the environment says of the device: its address, its limits and the folder that its processes share. */
#include "standin.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static struct standin_limits limits = {
	.max_mr_size = UINT64_MAX,
	.max_msg_sz = 1u << 30,
	.max_mr = STANDIN_MAX_MR - 1,
	.max_qp = STANDIN_MAX_QP - 1,
	.max_cq = 65536,
	.max_cqe = 1 << 20,
	.max_qp_wr = 1 << 15,
	.max_sge = 16,
	.max_rd_atom = STANDIN_MAX_RD_ATOM,
	.max_inline = 256,
	.atomics = true,
};
static char directory[3072];
static struct in6_addr address;
static unsigned ifindex;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void die(const char *what, const char *value)
{
	fprintf(stderr, "verbatim stand-in: %s: \"%s\"\n", what, value);
	abort();
}

static void read_limit(char *word)
{
	char *equals = strchr(word, '=');
	char *end;

	if (!equals)
		die("VERBATIM_STANDIN_LIMITS needs name=value", word);
	*equals = 0;
	unsigned long value = strtoul(equals + 1, &end, 0);
	struct {
		const char *name;
		int *field;
		unsigned long max;
	} known[] = {
		{"max_mr", &limits.max_mr, STANDIN_MAX_MR - 1},
		{"max_qp", &limits.max_qp, STANDIN_MAX_QP - 1},
		{"max_cq", &limits.max_cq, 1 << 20},
		{"max_cqe", &limits.max_cqe, 1 << 24},
		{"max_qp_wr", &limits.max_qp_wr, 1 << 20},
		{"max_sge", &limits.max_sge, 32},
		{"max_rd_atom", &limits.max_rd_atom, STANDIN_MAX_RD_ATOM},
		{"max_inline", &limits.max_inline, 1024},
	};
	if (*end || end == equals + 1)
		die("VERBATIM_STANDIN_LIMITS needs a number", equals + 1);
	if (!strcmp(word, "max_mr_size") && value > 0) {
		limits.max_mr_size = value;
		return;
	}
	if (!strcmp(word, "max_msg_sz") && value > 0 && value <= 1ul << 31) {
		limits.max_msg_sz = (uint32_t)value;
		return;
	}
	if (!strcmp(word, "atomics") && value <= 1) {
		limits.atomics = value;
		return;
	}
	if (!strcmp(word, "memlock") && value == 1) {
		limits.memlock = true;
		return;
	}
	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		if (!strcmp(word, known[i].name) && value > 0 && value <= known[i].max) {
			*known[i].field = (int)value;
			return;
		}
	}
	die("VERBATIM_STANDIN_LIMITS has an unknown name or a value out of range", word);
}

static void read_address(const char *text)
{
	struct in_addr four;

	if (inet_pton(AF_INET6, text, &address) == 1)
		return;
	if (inet_pton(AF_INET, text, &four) != 1)
		die("VERBATIM_STANDIN_ADDRESS is not an IP address", text);
	memset(&address, 0, sizeof address);
	address.s6_addr[10] = address.s6_addr[11] = 0xff;
	memcpy(&address.s6_addr[12], &four, sizeof four);
}

static bool has_address(const struct sockaddr *candidate)
{
	if (!candidate)
		return false;
	if (candidate->sa_family == AF_INET6)
		return !memcmp(&((const struct sockaddr_in6 *)(const void *)candidate)->sin6_addr, &address, 16);
	return candidate->sa_family == AF_INET && IN6_IS_ADDR_V4MAPPED(&address) &&
	       !memcmp(&((const struct sockaddr_in *)(const void *)candidate)->sin_addr, &address.s6_addr[12], 4);
}

static void find_interface(void)
{
	struct ifaddrs *all;

	ifindex = if_nametoindex("lo");
	if (getifaddrs(&all))
		return;
	for (struct ifaddrs *one = all; one; one = one->ifa_next)
		if (has_address(one->ifa_addr))
			ifindex = if_nametoindex(one->ifa_name);
	freeifaddrs(all);
}

static void make_directory(void)
{
	const char *given = getenv("VERBATIM_STANDIN_DIR");
	char path[3000];

	if (given && *given)
		snprintf(path, sizeof path, "%s", given);
	else
		snprintf(path, sizeof path, "/tmp/verbatim-standin-%u", (unsigned)getuid());
	if (mkdir(path, 0700) && errno != EEXIST)
		die("cannot make VERBATIM_STANDIN_DIR", path);
	char *real = realpath(path, NULL);
	if (!real || strlen(real) >= sizeof directory - 64)
		die("cannot use VERBATIM_STANDIN_DIR", path);
	strcpy(directory, real);
	free(real);
	char folder[sizeof directory + 16];
	snprintf(folder, sizeof folder, "%s/counters", directory);
	mkdir(folder, 0700);
	snprintf(folder, sizeof folder, "%s/addresses", directory);
	mkdir(folder, 0700);
}

static void read_settings(void)
{
	const char *text = getenv("VERBATIM_STANDIN_ADDRESS");
	read_address(text && *text ? text : "127.0.0.1");
	find_interface();
	make_directory();
	text = getenv("VERBATIM_STANDIN_LIMITS");
	if (text) {
		char *copy = strdup(text), *rest = copy;
		for (char *word; (word = strsep(&rest, " ,"));)
			if (*word)
				read_limit(word);
		free(copy);
	}
}

const struct standin_limits *standin_limits(void)
{
	pthread_once(&once, read_settings);
	return &limits;
}

const char *standin_directory(void)
{
	pthread_once(&once, read_settings);
	return directory;
}

const struct in6_addr *standin_address(void)
{
	pthread_once(&once, read_settings);
	return &address;
}

unsigned standin_ifindex(void)
{
	pthread_once(&once, read_settings);
	return ifindex;
}

uint64_t standin_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
