/*
 * What it costs in C to map and register a file whose pages are resident, to take that back, and to copy the file: the
 * counterpart of RegisterCost.java. Opens the first device.
 *
 * Usage: register_cost FILE BYTES REPEATS ro|rw    The last says how the file is mapped.
 * Prints the medians, in nanoseconds: of open, mmap and ibv_reg_mr_iova; of ibv_dereg_mr and munmap; of memcpy.
 */
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define CHECK(condition)                                                                \
	do {                                                                            \
		if (!(condition)) {                                                     \
			fprintf(stderr, "%s:%d: " #condition ": %m\n", __FILE__, __LINE__); \
			exit(1);                                                        \
		}                                                                       \
	} while (0)

#define MOST_REPEATS 10000
#define COPIED_AT_ONCE ((size_t)16 << 20)
/* As many low bits of the address are kept as the transport keeps. */
#define IOVA_BASE (UINT64_C(0x5eed) << 32)
#define IOVA_LOW ((UINT64_C(2) << 20) - 1)

static const char *path;
static size_t bytes;
static int writable;

static double nanos(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void *map(void)
{
	int file = open(path, writable ? O_RDWR : O_RDONLY);
	CHECK(file >= 0);
	void *memory = mmap(NULL, bytes, writable ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, file, 0);
	CHECK(memory != MAP_FAILED);
	close(file);
	return memory;
}

static struct ibv_pd *open_device(void)
{
	struct ibv_device **devices = ibv_get_device_list(NULL);
	CHECK(devices && devices[0]);
	struct ibv_context *context = ibv_open_device(devices[0]);
	CHECK(context);
	struct ibv_pd *pd = ibv_alloc_pd(context);
	CHECK(pd);
	return pd;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *values, size_t count)
{
	qsort(values, count, sizeof *values, by_value);
	return values[count / 2];
}

/* Copies piece by piece to the same place, as the transport's slabs are used again. */
static double copy(const char *from, char *to)
{
	double start = nanos();

	for (size_t at = 0; at < bytes; at += COPIED_AT_ONCE)
		memcpy(to, from + at, bytes - at < COPIED_AT_ONCE ? bytes - at : COPIED_AT_ONCE);
	__asm__ volatile("" : : "r"(to) : "memory"); /* as if somebody used the copy */
	return nanos() - start;
}

int main(int count, char **words)
{
	static double registering[MOST_REPEATS], removing[MOST_REPEATS], copying[MOST_REPEATS];

	CHECK(count == 5);
	path = words[1];
	bytes = strtoull(words[2], NULL, 10);
	size_t repeats = strtoull(words[3], NULL, 10);
	writable = !strcmp(words[4], "rw");
	CHECK(bytes >= 1 && repeats >= 1 && repeats <= MOST_REPEATS);

	struct ibv_pd *pd = open_device();
	char *target = malloc(COPIED_AT_ONCE);
	CHECK(target);
	memset(target, 1, COPIED_AT_ONCE);
	for (size_t i = 0; i < repeats; i++) {
		double start = nanos();
		char *memory = map();
		struct ibv_mr *mr = ibv_reg_mr_iova(pd, memory, bytes, IOVA_BASE | ((uintptr_t)memory & IOVA_LOW), IBV_ACCESS_REMOTE_READ);
		CHECK(mr);
		registering[i] = nanos() - start;
		start = nanos();
		CHECK(!ibv_dereg_mr(mr));
		CHECK(!munmap(memory, bytes));
		removing[i] = nanos() - start;
	}
	char *memory = map();
	copy(memory, target); /* takes the page faults */
	for (size_t i = 0; i < repeats; i++)
		copying[i] = copy(memory, target);
	printf("%.0f %.0f %.0f\n", median(registering, repeats), median(removing, repeats), median(copying, repeats));
	return 0;
}
