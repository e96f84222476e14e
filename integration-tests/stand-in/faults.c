/* The rules that are in force, and what follows when the file changes. */
#include "faults.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t load_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* the rules */
static struct standin_rule *rules;
static struct stat loaded;
static bool first_load_done;
static char command_line[1 << 20]; /* a Spark executor has 20 kB of class path before its id */

static atomic_int rules_of[STANDIN_OPS];
static _Atomic bool port_down, device_dead, device_absent, instant, nocopy;
static struct standin_model model;

static void (*cm_drop)(void);
static void (*cm_removed)(void);
static void (*cm_event)(int type, int status);

void standin_set_cm_hooks(void (*drop)(void), void (*removed)(void), void (*event)(int type, int status))
{
	pthread_mutex_lock(&load_lock);
	cm_drop = drop;
	cm_removed = removed;
	cm_event = event;
	pthread_mutex_unlock(&load_lock);
}

static void read_command_line(void)
{
	int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	ssize_t size = fd < 0 ? 0 : read(fd, command_line, sizeof command_line - 1);

	if (fd >= 0)
		close(fd);
	for (ssize_t i = 0; i < size; i++)
		if (!command_line[i])
			command_line[i] = ' ';
}

static struct standin_rule **append(struct standin_rule **tail, char *text, const char *separators)
{
	for (char *line; (line = strsep(&text, separators));) {
		struct standin_rule *rule = standin_rule_parse(line, command_line);
		if (rule) {
			*tail = rule;
			tail = &rule->next;
		}
	}
	return tail;
}

static struct standin_rule **append_environment(struct standin_rule **tail)
{
	const char *text = getenv("VERBATIM_STANDIN_MODEL");

	if (text && *text) {
		char line[512];
		snprintf(line, sizeof line, "model %s", text);
		tail = append(tail, line, "\n");
	}
	text = getenv("VERBATIM_STANDIN_FAULTS");
	if (text) {
		char *copy = strdup(text);
		tail = append(tail, copy, ";\n");
		free(copy);
	}
	return tail;
}

/* A last line without an end is still being written and waits for the next look. */
static void append_file(struct standin_rule **tail, int fd, size_t size)
{
	char *text = calloc(1, size + 1);
	ssize_t got = text ? read(fd, text, size) : 0;

	if (got > 0) {
		text[got] = 0;
		char *end = strrchr(text, '\n');
		if (end) {
			*end = 0;
			append(tail, text, "\n");
		}
	}
	free(text);
}

/* Lines that stay keep their progress. Answers by kind whether there is a line that was not there before. */
static void inherit(struct standin_rule *now, struct standin_rule *before, bool *fresh)
{
	for (struct standin_rule *rule = now; rule; rule = rule->next) {
		struct standin_rule *old = before;
		while (old && strcmp(old->text, rule->text))
			old = old->next;
		if (old) {
			rule->seen = old->seen;
			rule->fired = old->fired;
			old->text[0] = 0; /* an equal second line has its own progress */
		} else if (rule->applies) {
			rule->fresh = fresh[rule->kind] = true;
		}
	}
}

struct level {
	bool down, dead, absent;
	struct standin_model model;
};

static struct level level_of(const struct standin_rule *rule, int *counts)
{
	struct level level = {0};

	for (; rule; rule = rule->next) {
		if (!rule->applies)
			continue;
		if (rule->kind == LINE_RULE)
			counts[rule->op]++;
		else if (rule->kind == LINE_PORT)
			level.down = !rule->up;
		else if (rule->kind == LINE_FATAL)
			level.dead = true;
		else if (rule->kind == LINE_ABSENT)
			level.absent = true;
		else if (rule->kind == LINE_MODEL)
			level.model = rule->model;
	}
	return level;
}

static void apply(struct standin_rule *now)
{
	bool fresh[LINE_MODEL + 1] = {false};
	int counts[STANDIN_OPS] = {0};
	struct level level = level_of(now, counts);
	bool was_down = port_down;

	pthread_mutex_lock(&lock);
	struct standin_rule *before = rules;
	inherit(now, before, fresh);
	rules = now;
	model = level.model;
	instant = level.model.instant;
	nocopy = level.model.nocopy;
	for (int op = 0; op < STANDIN_OPS; op++)
		rules_of[op] = counts[op];
	pthread_mutex_unlock(&lock);
	while (before) {
		struct standin_rule *next = before->next;
		free(before);
		before = next;
	}
	device_absent = level.absent;
	device_dead = level.dead;
	port_down = level.down || level.dead;
	if (standin_own_table())
		standin_own_table()->port_state = port_down ? IBV_PORT_DOWN : IBV_PORT_ACTIVE;
	standin_count(STANDIN_N_FAULT_LOADS, 1);
	if (was_down != port_down)
		standin_async_all(port_down ? IBV_EVENT_PORT_ERR : IBV_EVENT_PORT_ACTIVE);
	if (fresh[LINE_GID])
		standin_async_all(IBV_EVENT_GID_CHANGE);
	if (fresh[LINE_FATAL]) {
		standin_async_all(IBV_EVENT_DEVICE_FATAL);
		standin_contexts_fail();
		if (cm_removed)
			cm_removed();
	}
	if (fresh[LINE_DISCONNECT] && cm_drop)
		cm_drop();
	for (; now; now = now->next) {
		if (now->fresh && now->kind == LINE_ASYNC)
			standin_async_event((enum ibv_event_type)now->event, now->port);
		if (now->fresh && now->kind == LINE_CM_EVENT && cm_event)
			cm_event(now->event, now->hit.status);
	}
}

void standin_faults_refresh(void)
{
	char path[4096];
	struct stat now = {0};

	snprintf(path, sizeof path, "%s/faults", standin_directory());
	pthread_mutex_lock(&load_lock);
	if (stat(path, &now))
		memset(&now, 0, sizeof now);
	if (!first_load_done || now.st_ino != loaded.st_ino || now.st_size != loaded.st_size ||
	    now.st_mtim.tv_sec != loaded.st_mtim.tv_sec || now.st_mtim.tv_nsec != loaded.st_mtim.tv_nsec) {
		struct standin_rule *fresh = NULL, **tail = &fresh;
		if (!first_load_done)
			read_command_line();
		first_load_done = true;
		tail = append_environment(tail);
		int fd = now.st_ino ? open(path, O_RDONLY | O_CLOEXEC) : -1;
		if (fd >= 0) {
			/* of the very file that was opened: it may have been replaced since */
			if (!fstat(fd, &now))
				append_file(tail, fd, (size_t)now.st_size);
			close(fd);
		}
		loaded = now;
		apply(fresh);
	}
	pthread_mutex_unlock(&load_lock);
}

static bool fires(struct standin_rule *rule)
{
	uint64_t seen = ++rule->seen;
	uint64_t first = rule->nth ? rule->nth : rule->every ? rule->every : 1;
	uint64_t step = rule->every ? rule->every : rule->nth ? 0 : 1;

	if (seen < first || (rule->count && rule->fired >= rule->count))
		return false;
	if (step ? (seen - first) % step : seen != first)
		return false;
	rule->fired++;
	return true;
}

void standin_faults_check(enum standin_op op, const struct standin_match *match, struct standin_hit *hit)
{
	static const struct standin_match any;

	if (!rules_of[op])
		return;
	if (!match)
		match = &any;
	pthread_mutex_lock(&lock);
	for (struct standin_rule *rule = rules; rule; rule = rule->next) {
		if (rule->kind != LINE_RULE || rule->op != op || !rule->applies || match->bytes < rule->min_bytes ||
		    (rule->access >= 0 && (uint32_t)rule->access != match->access) ||
		    (rule->peer_port && rule->peer_port != match->peer_port) || !fires(rule))
			continue;
		standin_count(STANDIN_N_FAULT_HITS, 1);
		hit->error = rule->hit.error ? rule->hit.error : hit->error;
		hit->status = rule->hit.status ? rule->hit.status : hit->status;
		hit->cm = rule->hit.cm ? rule->hit.cm : hit->cm;
		hit->delay_ns += rule->hit.delay_ns;
		hit->drop |= rule->hit.drop;
		hit->corrupt |= rule->hit.corrupt;
	}
	pthread_mutex_unlock(&lock);
}

int standin_fault_errno(enum standin_op op, const struct standin_match *match)
{
	struct standin_hit hit = {0};

	standin_faults_refresh();
	standin_faults_check(op, match, &hit);
	if (hit.delay_ns) {
		struct timespec rest = {(time_t)(hit.delay_ns / 1000000000), (long)(hit.delay_ns % 1000000000)};
		while (nanosleep(&rest, &rest))
			;
	}
	return hit.error;
}

struct standin_model standin_current_model(void)
{
	if (instant)
		return (struct standin_model){.instant = true};
	pthread_mutex_lock(&lock);
	struct standin_model copy = model;
	pthread_mutex_unlock(&lock);
	return copy;
}

bool standin_nocopy(void)
{
	return nocopy;
}

bool standin_port_up(void)
{
	return !port_down;
}

bool standin_device_dead(void)
{
	return device_dead;
}

bool standin_device_absent(void)
{
	return device_absent;
}
