/* The table of this process, which others map, and the tables of others that this process has mapped. */
#include "standin.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/uio.h>
#include <unistd.h>

static struct standin_table *own;
static int own_fd = -1;
static struct standin_peer *peers;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Under Yama only a parent may read a process's memory, unless the process allows it. */
__attribute__((constructor)) static void allow_reading(void)
{
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
}

static struct standin_table *map(int fd)
{
	void *mapped = mmap(NULL, sizeof(struct standin_table), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	return mapped == MAP_FAILED ? NULL : mapped;
}

static void create_own(void)
{
	int fd = memfd_create("verbatim-standin", MFD_CLOEXEC);
	if (fd < 0)
		return;
	if (ftruncate(fd, sizeof(struct standin_table)) || !(own = map(fd))) {
		close(fd);
		return;
	}
	if (getrandom(&own->token, sizeof own->token, 0) != sizeof own->token)
		own->token = standin_now() ^ (uint64_t)getpid() << 40;
	own->port_state = IBV_PORT_ACTIVE;
	own_fd = fd;
}

struct standin_table *standin_own_table(void)
{
	pthread_once(&once, create_own);
	return own;
}

int standin_own_identity(struct standin_identity *identity)
{
	if (!standin_own_table())
		return ENOMEM;
	identity->pid = getpid();
	identity->fd = own_fd;
	identity->token = own->token;
	return 0;
}

static struct standin_table *map_other(const struct standin_identity *identity)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/fd/%d", identity->pid, identity->fd);
	int fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	struct standin_table *table = map(fd);
	close(fd);
	if (table && table->token != identity->token) {
		munmap(table, sizeof *table);
		return NULL;
	}
	return table;
}

struct standin_peer *standin_peer_get(const struct standin_identity *identity)
{
	struct standin_peer *peer;

	pthread_mutex_lock(&lock);
	for (peer = peers; peer; peer = peer->next)
		if (peer->token == identity->token && peer->pid == identity->pid)
			break;
	if (!peer && (peer = calloc(1, sizeof *peer))) {
		peer->pid = identity->pid;
		peer->token = identity->token;
		peer->table = identity->pid == getpid() ? standin_own_table() : map_other(identity);
		if (peer->table) {
			peer->next = peers;
			peers = peer;
		} else {
			free(peer);
			peer = NULL;
		}
	}
	if (peer)
		peer->references++;
	pthread_mutex_unlock(&lock);
	return peer;
}

void standin_peer_put(struct standin_peer *peer)
{
	if (!peer)
		return;
	pthread_mutex_lock(&lock);
	if (--peer->references == 0) {
		struct standin_peer **link = &peers;
		while (*link != peer)
			link = &(*link)->next;
		*link = peer->next;
		if (peer->table != own)
			munmap(peer->table, sizeof *peer->table);
		free(peer);
	}
	pthread_mutex_unlock(&lock);
}

/* Of memory that processes share; robust, since one may be killed while it holds the lock. */
void standin_shared_lock_init(pthread_mutex_t *shared)
{
	pthread_mutexattr_t attributes;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(shared, &attributes);
	pthread_mutexattr_destroy(&attributes);
}

int standin_shared_lock(pthread_mutex_t *shared)
{
	int error = pthread_mutex_lock(shared);

	if (error == EOWNERDEAD)
		error = pthread_mutex_consistent(shared);
	return error;
}

int standin_slot_lock(struct standin_mr_slot *slot)
{
	return standin_shared_lock(&slot->lock);
}

bool standin_peer_copy(const struct standin_peer *peer, void *here, uint64_t there, uint64_t bytes, bool write)
{
	struct iovec own_end = {here, bytes};
	struct iovec its_end = {(void *)(uintptr_t)there, bytes};
	ssize_t copied = write ? process_vm_writev(peer->pid, &own_end, 1, &its_end, 1, 0)
			       : process_vm_readv(peer->pid, &own_end, 1, &its_end, 1, 0);

	return copied == (ssize_t)bytes;
}
