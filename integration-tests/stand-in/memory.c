/* Protection domains and memory regions: registration, the checks of a request's two sides, and its copy. */
#include "standin.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <unistd.h>

/* Copied under the region's lock at a time, so that deregistration never waits for a long READ. */
#define CHUNK ((uint64_t)1 << 20)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* allocation of slots */
static uint32_t next_slot = 1;
static uint8_t generation[STANDIN_MAX_MR];
static atomic_int pins[STANDIN_MAX_MR]; /* uses as a local buffer, by this process only */
static atomic_int live;
static _Atomic uint64_t pinned; /* bytes of all regions */

struct ibv_pd *standin_pd_alloc(struct ibv_context *context)
{
	static _Atomic uint32_t number;
	struct standin_context *owner = standin_context_of(context);
	struct standin_pd *pd = calloc(1, sizeof *pd);
	if (!pd)
		return NULL;
	pd->pd.context = context;
	pd->pd.handle = owner->number << 16 | (++number & 0xffff);
	owner->pds++;
	standin_count(STANDIN_N_PDS, 1);
	return &pd->pd;
}

struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	if ((errno = standin_fault_errno(STANDIN_ALLOC_PD, NULL)))
		return NULL;
	return standin_pd_alloc(context);
}

int ibv_dealloc_pd(struct ibv_pd *pd)
{
	struct standin_pd *self = (struct standin_pd *)pd;

	if (self->users)
		return EBUSY;
	standin_context_of(pd->context)->pds--;
	free(self);
	standin_count(STANDIN_N_PDS, -1);
	return 0;
}

/* As pinning does: brings all pages in, for writing when the device may write. */
static int populate(void *addr, size_t length, bool write)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t first = (uintptr_t)addr & ~(page - 1);
	uintptr_t end = ((uintptr_t)addr + length + page - 1) & ~(page - 1);

	if (end < first)
		return EINVAL;
	while (madvise((void *)first, end - first, write ? MADV_POPULATE_WRITE : MADV_POPULATE_READ)) {
		if (errno != EAGAIN && errno != EINTR)
			return EFAULT;
	}
	return 0;
}

static uint32_t take_slot(void)
{
	struct standin_table *table = standin_own_table();
	uint32_t found = 0;

	pthread_mutex_lock(&lock);
	for (uint32_t i = 0; i < STANDIN_MAX_MR - 1 && !found && live < standin_limits()->max_mr; i++) {
		uint32_t index = next_slot;
		next_slot = next_slot + 1 == STANDIN_MAX_MR ? 1 : next_slot + 1;
		if (table->mrs[index].key)
			continue;
		if (!table->mrs[index].ready) {
			standin_shared_lock_init(&table->mrs[index].lock);
			table->mrs[index].ready = 1;
		}
		live++;
		found = index;
	}
	if (found) {
		/* taken, but with a key that no READ can carry until the region is complete */
		standin_slot_lock(&table->mrs[found]);
		table->mrs[found].key = UINT32_MAX;
		pthread_mutex_unlock(&table->mrs[found].lock);
	}
	pthread_mutex_unlock(&lock);
	return found;
}

#define CAP_IPC_LOCK 14

static bool may_lock_all(void)
{
	char line[256];
	unsigned long long effective = 0;
	FILE *status = fopen("/proc/self/status", "re");

	while (status && fgets(line, sizeof line, status))
		if (sscanf(line, "CapEff: %llx", &effective) == 1)
			break;
	if (status)
		fclose(status);
	return effective >> CAP_IPC_LOCK & 1;
}

/* As the kernel does: a region counts unless the process may lock what it likes. */
static bool over_memlock(size_t length)
{
	struct rlimit limit;

	return standin_limits()->memlock && !getrlimit(RLIMIT_MEMLOCK, &limit) && limit.rlim_cur != RLIM_INFINITY &&
	       (uint64_t)pinned + length > limit.rlim_cur && !may_lock_all();
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, unsigned int access)
{
	struct standin_match match = {.bytes = length, .access = access};
	bool write = access & (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC);

	if (standin_device_dead())
		return errno = EIO, NULL;
	if (length > standin_limits()->max_mr_size)
		return errno = EINVAL, NULL;
	if ((errno = standin_fault_errno(STANDIN_REG_MR, &match)))
		return NULL;
	if (!length || iova + length < iova ||
	    ((access & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)) && !(access & IBV_ACCESS_LOCAL_WRITE)))
		return errno = EINVAL, NULL;
	if (over_memlock(length))
		return errno = ENOMEM, NULL;
	if ((errno = populate(addr, length, write)))
		return NULL;
	struct ibv_mr *mr = calloc(1, sizeof *mr);
	if (!mr)
		return NULL;
	uint32_t index = take_slot();
	if (!index) {
		free(mr);
		return errno = ENOMEM, NULL;
	}
	struct standin_mr_slot *slot = &standin_own_table()->mrs[index];
	standin_slot_lock(slot);
	slot->pd = pd->handle;
	slot->access = access;
	slot->addr = (uintptr_t)addr;
	slot->iova = iova;
	slot->length = length;
	slot->key = index << 8 | ++generation[index];
	pthread_mutex_unlock(&slot->lock);
	mr->context = pd->context;
	mr->pd = pd;
	mr->addr = addr;
	mr->length = length;
	mr->handle = index;
	mr->lkey = mr->rkey = slot->key;
	((struct standin_pd *)pd)->users++;
	pinned += length;
	standin_count(STANDIN_N_MRS, 1);
	standin_count(STANDIN_N_MR_BYTES, (int64_t)length);
	standin_count(STANDIN_N_REGISTRATIONS, 1);
	if (access == IBV_ACCESS_REMOTE_READ)
		standin_count(STANDIN_N_REMOTE_BYTES, (int64_t)length);
	else if (access != IBV_ACCESS_LOCAL_WRITE)
		standin_count(STANDIN_N_REGISTRATIONS_OTHER, 1);
	return mr;
}

struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
	return ibv_reg_mr_iova2(pd, addr, length, (uintptr_t)addr, (unsigned)access);
}

struct ibv_mr *ibv_reg_mr_iova(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, int access)
{
	return ibv_reg_mr_iova2(pd, addr, length, iova, (unsigned)access);
}

int ibv_dereg_mr(struct ibv_mr *mr)
{
	struct standin_mr_slot *slot = &standin_own_table()->mrs[mr->handle];

	standin_slot_lock(slot);
	if (slot->key != mr->lkey) {
		pthread_mutex_unlock(&slot->lock);
		return EINVAL;
	}
	uint32_t access = slot->access;
	slot->key = UINT32_MAX;
	pthread_mutex_unlock(&slot->lock);
	while (pins[mr->handle])
		usleep(20);
	pthread_mutex_lock(&lock);
	slot->key = 0;
	live--;
	pthread_mutex_unlock(&lock);
	((struct standin_pd *)mr->pd)->users--;
	pinned -= mr->length;
	standin_count(STANDIN_N_MRS, -1);
	standin_count(STANDIN_N_MR_BYTES, -(int64_t)mr->length);
	if (access == IBV_ACCESS_REMOTE_READ)
		standin_count(STANDIN_N_REMOTE_BYTES, -(int64_t)mr->length);
	free(mr);
	return 0;
}

/* The kernel takes a region away when the device's file is closed, whatever the process forgot. */
void standin_memory_forget(uint32_t context_number)
{
	struct standin_table *table = standin_own_table();

	for (uint32_t index = 1; index < STANDIN_MAX_MR; index++) {
		if (!table->mrs[index].ready || table->mrs[index].pd >> 16 != context_number)
			continue;
		standin_slot_lock(&table->mrs[index]);
		if (table->mrs[index].key)
			table->mrs[index].key = UINT32_MAX;
		pthread_mutex_unlock(&table->mrs[index].lock);
	}
}

/* Finds and locks the slot of a key; NULL when the key, the domain, the access or the range is wrong. */
static struct standin_mr_slot *lock_region(struct standin_table *table, uint32_t pd, uint32_t key, uint64_t from,
					   uint64_t length, uint32_t access)
{
	uint32_t index = key >> 8;

	if (index == 0 || index >= STANDIN_MAX_MR || !table->mrs[index].ready)
		return NULL;
	struct standin_mr_slot *slot = &table->mrs[index];
	if (standin_slot_lock(slot))
		return NULL;
	if (slot->key == key && slot->pd == pd && (slot->access & access) == access && from >= slot->iova &&
	    length <= slot->length && from - slot->iova <= slot->length - length)
		return slot;
	pthread_mutex_unlock(&slot->lock);
	return NULL;
}

/* Pins instead of locking: two processes that read from each other would otherwise wait for each other. */
int standin_local_pin(uint32_t pd, const struct ibv_sge *sge, uint32_t access, uint64_t *address)
{
	struct standin_mr_slot *slot = lock_region(standin_own_table(), pd, sge->lkey, sge->addr, sge->length,
						   access);
	if (!slot)
		return IBV_WC_LOC_PROT_ERR;
	pins[sge->lkey >> 8]++;
	*address = slot->addr + (sge->addr - slot->iova);
	pthread_mutex_unlock(&slot->lock);
	return IBV_WC_SUCCESS;
}

void standin_local_unpin(uint32_t lkey)
{
	pins[lkey >> 8]--;
}

/* Fills `into` with at most `bytes` of the entries, from the given offset on; answers how many it used. */
static int cut(const struct ibv_sge *local, int count, uint64_t offset, uint64_t bytes, struct iovec *into)
{
	int used = 0;

	for (int i = 0; i < count && bytes; i++) {
		if (offset >= local[i].length) {
			offset -= local[i].length;
			continue;
		}
		uint64_t part = local[i].length - offset < bytes ? local[i].length - offset : bytes;
		into[used++] = (struct iovec){(void *)(uintptr_t)(local[i].addr + offset), part};
		offset = 0;
		bytes -= part;
	}
	return used;
}

static struct standin_mr_slot *lock_range(struct standin_peer *peer, const struct standin_range *range, uint64_t skip)
{
	return lock_region(peer->table, range->pd, range->key, range->from + skip, range->length - skip, range->access);
}

/* Reads a range of the peer into the local entries, or writes it from them, from a byte of theirs on. */
int standin_remote_copy(struct standin_peer *peer, const struct standin_range *range, bool write,
			const struct ibv_sge *local, int count, uint64_t offset)
{
	for (uint64_t done = 0; done < range->length;) {
		uint64_t bytes = range->length - done < CHUNK ? range->length - done : CHUNK;
		/* the whole rest is checked, as a device checks the whole request before it answers */
		struct standin_mr_slot *slot = lock_range(peer, range, done);
		if (!slot)
			return IBV_WC_REM_ACCESS_ERR;
		struct iovec own[32];
		struct iovec other = {(void *)(uintptr_t)(slot->addr + (range->from + done - slot->iova)), bytes};
		unsigned long used = (unsigned long)cut(local, count, offset + done, bytes, own);
		ssize_t copied = write ? process_vm_writev(peer->pid, own, used, &other, 1, 0)
				       : process_vm_readv(peer->pid, own, used, &other, 1, 0);
		int error = errno;
		pthread_mutex_unlock(&slot->lock);
		if (copied < 0 && error == EPERM)
			fprintf(stderr, "verbatim stand-in: the memory of process %d may not be accessed\n",
				(int)peer->pid);
		if (copied <= 0)
			return IBV_WC_REM_ACCESS_ERR;
		done += (uint64_t)copied;
	}
	return IBV_WC_SUCCESS;
}

/* Atomic among the device's own operations, whose lock of the region is held; not with the peer's processor. */
int standin_remote_atomic(struct standin_peer *peer, const struct standin_range *range, const struct standin_send *send,
			  uint64_t *before)
{
	if (range->from % sizeof *before)
		return IBV_WC_REM_INV_REQ_ERR;
	struct standin_mr_slot *slot = lock_range(peer, range, 0);
	if (!slot)
		return IBV_WC_REM_ACCESS_ERR;
	uint64_t there = slot->addr + (range->from - slot->iova);
	bool done = standin_peer_copy(peer, before, there, sizeof *before, false);
	uint64_t after = send->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD ? *before + send->compare_add
			 : *before == send->compare_add		      ? send->swap
								      : *before;
	done = done && standin_peer_copy(peer, &after, there, sizeof after, true);
	pthread_mutex_unlock(&slot->lock);
	return done ? IBV_WC_SUCCESS : IBV_WC_REM_ACCESS_ERR;
}
