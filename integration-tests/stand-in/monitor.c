/* One thread per process: it sees a changed faults file at once, and writes the counters for the tests to read. */
#include "standin.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <unistd.h>

#define TICK_MS 20

static const char *const names[STANDIN_COUNTERS] = {
	[STANDIN_N_CONTEXTS] = "contexts",
	[STANDIN_N_PDS] = "pds",
	[STANDIN_N_MRS] = "mrs",
	[STANDIN_N_MR_BYTES] = "mr_bytes",
	[STANDIN_N_REMOTE_BYTES] = "remote_bytes",
	[STANDIN_N_COMP_CHANNELS] = "comp_channels",
	[STANDIN_N_CQS] = "cqs",
	[STANDIN_N_QPS] = "qps",
	[STANDIN_N_CM_CHANNELS] = "cm_channels",
	[STANDIN_N_CM_IDS] = "cm_ids",
	[STANDIN_N_CONNECTED] = "connected",
	[STANDIN_N_REGISTRATIONS] = "registrations",
	[STANDIN_N_REGISTRATIONS_OTHER] = "registrations_other",
	[STANDIN_N_DOORBELLS] = "doorbells",
	[STANDIN_N_READS] = "reads",
	[STANDIN_N_READ_BYTES] = "read_bytes",
	[STANDIN_N_WRITES] = "writes",
	[STANDIN_N_WRITE_BYTES] = "write_bytes",
	[STANDIN_N_SENDS] = "sends",
	[STANDIN_N_SEND_BYTES] = "send_bytes",
	[STANDIN_N_ATOMICS] = "atomics",
	[STANDIN_N_RECEIVES] = "receives",
	[STANDIN_N_NOT_READY] = "not_ready",
	[STANDIN_N_READ_ERRORS] = "read_errors",
	[STANDIN_N_FLUSHED] = "flushed",
	[STANDIN_N_FAULT_HITS] = "fault_hits",
	[STANDIN_N_FAULT_LOADS] = "fault_loads",
};

static _Atomic int64_t counters[STANDIN_COUNTERS];
static _Atomic bool dirty;
static pthread_mutex_t write_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static _Atomic bool started;

void standin_count(enum standin_counter counter, int64_t change)
{
	counters[counter] += change;
	if (!dirty)
		dirty = true;
}

/* Replaced as a whole, so that a reader never sees a half-written file. */
void standin_counters_write(void)
{
	char path[4096], temporary[4096];

	pthread_mutex_lock(&write_lock);
	dirty = false;
	snprintf(path, sizeof path, "%s/counters/%d", standin_directory(), (int)getpid());
	snprintf(temporary, sizeof temporary, "%s/counters/.%d", standin_directory(), (int)getpid());
	FILE *file = fopen(temporary, "we");
	if (file) {
		for (int i = 0; i < STANDIN_COUNTERS; i++)
			fprintf(file, "%s %lld\n", names[i], (long long)counters[i]);
		if (fclose(file) == 0)
			rename(temporary, path);
	}
	pthread_mutex_unlock(&write_lock);
}

__attribute__((destructor)) static void write_last(void)
{
	if (started)
		standin_counters_write();
}

static void *watch(void *argument)
{
	int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	char events[4096];

	(void)argument;
	prctl(PR_SET_NAME, "standin-monitor");
	if (fd >= 0)
		inotify_add_watch(fd, standin_directory(), IN_CLOSE_WRITE | IN_MOVED_TO | IN_DELETE);
	for (;;) {
		struct pollfd changed = {.fd = fd, .events = POLLIN};
		if (poll(&changed, 1, TICK_MS) == 1)
			while (read(fd, events, sizeof events) > 0)
				continue;
		standin_faults_refresh();
		if (dirty)
			standin_counters_write();
	}
	return NULL;
}

static void start(void)
{
	sigset_t all, before;
	pthread_t thread;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (!pthread_create(&thread, NULL, watch, NULL))
		pthread_detach(thread);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	started = true;
}

void standin_monitor_start(void)
{
	pthread_once(&once, start);
}
