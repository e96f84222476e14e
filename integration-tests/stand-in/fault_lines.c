/* Parses one line of the faults file; see README.md for the grammar. */
#include "faults.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const op_names[STANDIN_OPS] = {
	[STANDIN_GET_DEVICE_LIST] = "get_device_list",
	[STANDIN_OPEN_DEVICE] = "open_device",
	[STANDIN_ALLOC_PD] = "alloc_pd",
	[STANDIN_REG_MR] = "reg_mr",
	[STANDIN_CREATE_COMP_CHANNEL] = "create_comp_channel",
	[STANDIN_CREATE_CQ] = "create_cq",
	[STANDIN_CREATE_QP] = "create_qp",
	[STANDIN_POST_SEND] = "post_send",
	[STANDIN_READ] = "read",
	[STANDIN_BIND_ADDR] = "bind_addr",
	[STANDIN_LISTEN] = "listen",
	[STANDIN_RESOLVE_ADDR] = "resolve_addr",
	[STANDIN_RESOLVE_ROUTE] = "resolve_route",
	[STANDIN_CONNECT] = "connect",
	[STANDIN_ACCEPT] = "accept",
};

static const struct {
	const char *name;
	int number;
} errno_names[] = {
	{"EPERM", EPERM},	{"EIO", EIO},		{"EAGAIN", EAGAIN},	{"ENOMEM", ENOMEM},
	{"EACCES", EACCES},	{"EFAULT", EFAULT},	{"EBUSY", EBUSY},	{"ENODEV", ENODEV},
	{"EINVAL", EINVAL},	{"EMFILE", EMFILE},	{"ENOSPC", ENOSPC},	{"ENOSYS", ENOSYS},
	{"EOPNOTSUPP", EOPNOTSUPP}, {"EADDRINUSE", EADDRINUSE}, {"EADDRNOTAVAIL", EADDRNOTAVAIL},
	{"ETIMEDOUT", ETIMEDOUT}, {"EHOSTUNREACH", EHOSTUNREACH},
};

static const struct {
	const char *name;
	enum standin_op op;
	enum standin_cm_action action;
	int status;
} cm_names[] = {
	{"reject", STANDIN_CONNECT, STANDIN_CM_REJECT, 28},
	{"silent", STANDIN_CONNECT, STANDIN_CM_SILENT, 0},
	{"unreachable", STANDIN_CONNECT, STANDIN_CM_ERROR, -ETIMEDOUT},
	{"addr_error", STANDIN_RESOLVE_ADDR, STANDIN_CM_ERROR, -EHOSTUNREACH},
	{"route_error", STANDIN_RESOLVE_ROUTE, STANDIN_CM_ERROR, -EHOSTUNREACH},
};

#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* A fault that is silently ignored would make a test pass for the wrong reason. */
static void die(const char *line, const char *word)
{
	fprintf(stderr, "verbatim stand-in: fault line \"%s\": cannot understand \"%s\"\n", line, word ? word : "(end)");
	abort();
}

static bool parse_head(struct standin_rule *rule, const char *word, char **rest)
{
	if (!strcmp(word, "device_fatal")) {
		rule->kind = LINE_FATAL;
	} else if (!strcmp(word, "gid_change")) {
		rule->kind = LINE_GID;
	} else if (!strcmp(word, "disconnect")) {
		rule->kind = LINE_DISCONNECT;
	} else if (!strcmp(word, "model")) {
		rule->kind = LINE_MODEL;
	} else if (!strcmp(word, "async")) {
		rule->kind = LINE_ASYNC;
	} else if (!strcmp(word, "cm_event")) {
		rule->kind = LINE_CM_EVENT;
	} else if (!strcmp(word, "port")) {
		const char *state = strsep(rest, " ");
		rule->kind = LINE_PORT;
		rule->up = state && !strcmp(state, "up");
		return rule->up || (state && !strcmp(state, "down"));
	} else if (!strcmp(word, "device")) {
		const char *state = strsep(rest, " ");
		rule->kind = LINE_ABSENT;
		return state && !strcmp(state, "absent");
	} else if (!strcmp(word, "cm")) {
		const char *action = strsep(rest, " ");
		for (size_t i = 0; action && i < LENGTH(cm_names); i++) {
			if (strcmp(action, cm_names[i].name))
				continue;
			rule->op = cm_names[i].op;
			rule->hit.cm = cm_names[i].action;
			rule->hit.status = cm_names[i].status;
			return true;
		}
		return false;
	} else {
		for (int op = 0; op < STANDIN_OPS; op++) {
			if (!strcmp(word, op_names[op])) {
				rule->op = (enum standin_op)op;
				return true;
			}
		}
		return false;
	}
	return true;
}

static int parse_errno(const char *value)
{
	for (size_t i = 0; i < LENGTH(errno_names); i++)
		if (!strcmp(value, errno_names[i].name))
			return errno_names[i].number;
	return atoi(value);
}

static bool parse_number(struct standin_rule *rule, const char *name, const char *value)
{
	char *end;
	double number = strtod(value, &end);

	if (end == value || *end)
		return false;
	if (!strcmp(name, "nth") && number >= 1)
		rule->nth = (uint64_t)number;
	else if (!strcmp(name, "every") && number >= 1)
		rule->every = (uint64_t)number;
	else if (!strcmp(name, "count") && number >= 1)
		rule->count = (uint64_t)number;
	else if (!strcmp(name, "min_bytes") && number >= 0)
		rule->min_bytes = (uint64_t)number;
	else if (!strcmp(name, "access") && number >= 0)
		rule->access = (int64_t)number;
	else if (!strcmp(name, "only_peer_port") && number >= 1 && number <= 65535)
		rule->peer_port = (uint16_t)number;
	else if (!strcmp(name, "event") && number >= 0 && (rule->kind == LINE_ASYNC || rule->kind == LINE_CM_EVENT))
		rule->event = (int)number;
	else if (!strcmp(name, "port") && number >= 0 && number <= 255 && rule->kind == LINE_ASYNC)
		rule->port = (uint8_t)number;
	else if (!strcmp(name, "status"))
		rule->hit.status = (int)number;
	else if (!strcmp(name, "delay_us") && number >= 0)
		rule->hit.delay_ns = (uint64_t)(number * 1000);
	else if (!strcmp(name, "latency_us") && number >= 0 && rule->kind == LINE_MODEL)
		rule->model.latency_ns = (uint64_t)(number * 1000);
	else if (!strcmp(name, "gbps") && number > 0 && rule->kind == LINE_MODEL)
		rule->model.ns_per_byte = 8 / number;
	else
		return false;
	return true;
}

static bool parse_word(struct standin_rule *rule, char *word, const char *command_line)
{
	char *value = strchr(word, '=');

	if (!value && !strcmp(word, "drop") && rule->op == STANDIN_READ && rule->kind == LINE_RULE)
		return rule->hit.drop = true;
	if (!value && !strcmp(word, "corrupt") && rule->op == STANDIN_READ && rule->kind == LINE_RULE)
		return rule->hit.corrupt = true;
	if (!value && !strcmp(word, "instant") && rule->kind == LINE_MODEL)
		return rule->model.instant = true;
	if (!value && !strcmp(word, "nocopy") && rule->kind == LINE_MODEL)
		return rule->model.nocopy = true;
	if (!value)
		return false;
	*value++ = 0;
	if (!strcmp(word, "process")) {
		rule->applies = strstr(command_line, value);
		return *value;
	}
	if (!strcmp(word, "id")) /* makes a line differ from an equal one before it */
		return *value;
	if (!strcmp(word, "errno"))
		return (rule->hit.error = parse_errno(value)) > 0;
	return parse_number(rule, word, value);
}

/* Does the rule ask for something that its operation can do? */
static bool complete(const struct standin_rule *rule)
{
	if (rule->kind == LINE_ASYNC || rule->kind == LINE_CM_EVENT)
		return rule->event >= 0;
	if (rule->kind != LINE_RULE || rule->hit.cm)
		return true;
	if (rule->op == STANDIN_READ)
		return !rule->hit.error &&
		       (rule->hit.status || rule->hit.delay_ns || rule->hit.drop || rule->hit.corrupt);
	if (rule->op == STANDIN_REG_MR && rule->hit.delay_ns)
		return !rule->hit.status;
	return rule->hit.error && !rule->hit.status && !rule->hit.delay_ns;
}

struct standin_rule *standin_rule_parse(const char *line, const char *command_line)
{
	char copy[512], *rest = copy, *word;
	struct standin_rule *rule;

	if (strlen(line) >= sizeof copy)
		die(line, "(too long)");
	strcpy(copy, line);
	copy[strcspn(copy, "#\r")] = 0;
	do
		word = strsep(&rest, " ");
	while (word && !*word);
	if (!word)
		return NULL;
	if (!(rule = calloc(1, sizeof *rule)))
		die(line, "(out of memory)");
	strcpy(rule->text, line);
	rule->applies = true;
	rule->access = -1;
	rule->event = -1;
	rule->port = STANDIN_PORT;
	if (!parse_head(rule, word, &rest))
		die(line, word);
	while ((word = strsep(&rest, " ")))
		if (*word && !parse_word(rule, word, command_line))
			die(line, word);
	if (!complete(rule))
		die(line, "what it should do");
	return rule;
}
