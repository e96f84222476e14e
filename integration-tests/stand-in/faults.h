/* Between the parser of fault lines and their use. */
#ifndef STANDIN_FAULTS_H
#define STANDIN_FAULTS_H

#include "standin.h"

enum standin_line { LINE_RULE, LINE_PORT, LINE_ABSENT, LINE_FATAL, LINE_GID, LINE_DISCONNECT, LINE_ASYNC, LINE_CM_EVENT, LINE_MODEL };

struct standin_rule {
	struct standin_rule *next;
	char text[512];
	enum standin_line kind;
	enum standin_op op;
	bool applies; /* to this process */
	bool up; /* of a port line */
	bool fresh; /* was not there before: what happens once is to happen */
	int event; /* of an event line; -1 for none yet */
	uint8_t port; /* that an asynchronous event names */
	uint64_t nth;
	uint64_t every;
	uint64_t count;
	uint64_t min_bytes;
	int64_t access; /* -1 for any */
	uint16_t peer_port;
	struct standin_hit hit;
	struct standin_model model;
	/* progress, kept when the file is read again and still has this line */
	uint64_t seen;
	uint64_t fired;
};

/* Answers NULL for an empty line or a comment; ends the process at a line that it does not understand. */
struct standin_rule *standin_rule_parse(const char *line, const char *command_line);

#endif
