/* Addresses and ports. A port is taken by binding a unix socket to its name, so it ends with the process. */
#include "cm.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/un.h>
#include <unistd.h>

struct sockaddr_in6 cm_canonical(const struct sockaddr *address)
{
	struct sockaddr_in6 result = {.sin6_family = AF_INET6};

	if (address->sa_family == AF_INET6) {
		memcpy(&result, address, sizeof result);
	} else {
		struct sockaddr_in four;
		memcpy(&four, address, sizeof four);
		result.sin6_port = four.sin_port;
		if (four.sin_addr.s_addr) {
			result.sin6_addr.s6_addr[10] = result.sin6_addr.s6_addr[11] = 0xff;
			memcpy(&result.sin6_addr.s6_addr[12], &four.sin_addr, sizeof four.sin_addr);
		}
	}
	return result;
}

void cm_set_address(struct sockaddr_storage *into, const struct sockaddr_in6 *from)
{
	struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = from->sin6_port};

	memset(into, 0, sizeof *into);
	if (IN6_IS_ADDR_V4MAPPED(&from->sin6_addr)) {
		memcpy(&four.sin_addr, &from->sin6_addr.s6_addr[12], sizeof four.sin_addr);
		memcpy(into, &four, sizeof four);
	} else {
		memcpy(into, from, sizeof *from);
	}
}

static bool is_any(const struct sockaddr *address)
{
	struct sockaddr_in6 canonical = cm_canonical(address);

	return IN6_IS_ADDR_UNSPECIFIED(&canonical.sin6_addr);
}

bool cm_is_local(const struct sockaddr *address)
{
	struct sockaddr_in6 canonical = cm_canonical(address);

	return !memcmp(&canonical.sin6_addr, standin_address(), sizeof(struct in6_addr));
}

/* Does any process that shares our folder have a device with this address? */
static bool has_device(const struct sockaddr *address)
{
	struct sockaddr_in6 canonical = cm_canonical(address);
	char path[4096];
	int used = snprintf(path, sizeof path, "%s/addresses/", standin_directory());

	for (int i = 0; i < 16; i++)
		used += snprintf(path + used, sizeof path - (size_t)used, "%02x", canonical.sin6_addr.s6_addr[i]);
	return access(path, F_OK) == 0;
}

/* Names are abstract: they vanish with the process. The folder's hash keeps test runs apart. */
socklen_t cm_name(struct in6_addr address, uint16_t port, void *name)
{
	struct sockaddr_un *un = name;
	uint64_t hash = UINT64_C(14695981039346656037);

	for (const char *c = standin_directory(); *c; c++)
		hash = (hash ^ (uint8_t)*c) * UINT64_C(1099511628211);
	memset(un, 0, sizeof *un);
	un->sun_family = AF_UNIX;
	int used = snprintf(un->sun_path + 1, sizeof un->sun_path - 1, "verbatim-standin/%016llx/",
			    (unsigned long long)hash);
	for (int i = 0; i < 16; i++)
		used += snprintf(un->sun_path + 1 + used, sizeof un->sun_path - 1 - (size_t)used, "%02x",
				 address.s6_addr[i]);
	used += snprintf(un->sun_path + 1 + used, sizeof un->sun_path - 1 - (size_t)used, ":%u", port);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)used);
}

static int bind_port(int sock, uint16_t port)
{
	struct sockaddr_un name;
	socklen_t length = cm_name(*standin_address(), port, &name);

	return bind(sock, (struct sockaddr *)&name, length) ? errno : 0;
}

int cm_reserve(struct cm_id *id, const struct sockaddr *address)
{
	if (address->sa_family != AF_INET && address->sa_family != AF_INET6)
		return EINVAL;
	if (!is_any(address) && !cm_is_local(address))
		return ENODEV;
	struct sockaddr_in6 wanted = cm_canonical(address);
	uint16_t port = ntohs(wanted.sin6_port);
	int sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (sock < 0)
		return errno;
	int error = port ? bind_port(sock, port) : EADDRINUSE;
	for (int attempt = 0; !port && error == EADDRINUSE && attempt < 1000; attempt++) {
		uint16_t random;
		if (getrandom(&random, sizeof random, 0) != sizeof random)
			random = (uint16_t)standin_now();
		uint16_t candidate = (uint16_t)(32768 + random % 28000);
		error = bind_port(sock, candidate);
		if (!error)
			wanted.sin6_port = htons(candidate);
	}
	if (error) {
		close(sock);
		return error;
	}
	id->sock = sock;
	if (is_any(address)) {
		memcpy(&id->id.route.addr.src_storage, address,
		       address->sa_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6));
		id->id.route.addr.src_sin.sin_port = wanted.sin6_port; /* the same place in both families */
	} else {
		cm_set_address(&id->id.route.addr.src_storage, &wanted);
		cm_attach(id);
	}
	return 0;
}

int rdma_bind_addr(struct rdma_cm_id *id, struct sockaddr *address)
{
	struct cm_id *self = (struct cm_id *)id;
	int error = standin_fault_errno(STANDIN_BIND_ADDR, NULL);

	pthread_mutex_lock(&cm_lock);
	if (!error && self->state != CM_IDLE)
		error = EINVAL;
	if (!error)
		error = cm_reserve(self, address);
	if (!error)
		cm_set_state(self, CM_BOUND);
	pthread_mutex_unlock(&cm_lock);
	return error ? cm_error(error) : 0;
}

static int resolve(struct cm_id *id, const struct sockaddr *source, const struct sockaddr *target)
{
	struct sockaddr_in6 own = {.sin6_family = AF_INET6, .sin6_addr = *standin_address()};

	if (id->state != CM_IDLE && id->state != CM_BOUND)
		return EINVAL;
	if (target->sa_family != AF_INET && target->sa_family != AF_INET6)
		return EINVAL;
	if (id->state == CM_IDLE) {
		int error = cm_reserve(id, source && !is_any(source) ? source : (struct sockaddr *)&own);
		if (error)
			return error;
	}
	/* whatever it was bound to, it now leaves by the one device */
	own.sin6_port = id->id.route.addr.src_sin.sin_port;
	cm_set_address(&id->id.route.addr.src_storage, &own);
	cm_attach(id);
	memcpy(&id->id.route.addr.dst_storage, target,
	       target->sa_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6));
	memcpy(id->id.route.addr.addr.ibaddr.sgid.raw, standin_address(), 16);
	struct sockaddr_in6 canonical = cm_canonical(target);
	memcpy(id->id.route.addr.addr.ibaddr.dgid.raw, &canonical.sin6_addr, 16);
	id->id.route.addr.addr.ibaddr.pkey = 0xffff;
	return 0;
}

static uint16_t port_of(const struct sockaddr *address)
{
	return ntohs(cm_canonical(address).sin6_port);
}

int rdma_resolve_addr(struct rdma_cm_id *id, struct sockaddr *source, struct sockaddr *target, int timeout_ms)
{
	struct cm_id *self = (struct cm_id *)id;
	struct standin_match match = {.peer_port = port_of(target)};
	struct standin_hit hit = {0};

	(void)timeout_ms;
	standin_faults_refresh();
	standin_faults_check(STANDIN_RESOLVE_ADDR, &match, &hit);
	pthread_mutex_lock(&cm_lock);
	int error = hit.error ? hit.error : resolve(self, source, target);
	if (!error) {
		int status = hit.cm ? hit.status : 0;
		if (!status && (!standin_port_up() || (!cm_is_local(target) && !has_device(target))))
			status = -EHOSTUNREACH;
		cm_set_state(self, status ? CM_BOUND : CM_ADDR_RESOLVED);
		cm_post(self, NULL, status ? RDMA_CM_EVENT_ADDR_ERROR : RDMA_CM_EVENT_ADDR_RESOLVED, status, NULL, 0);
	}
	pthread_mutex_unlock(&cm_lock);
	return error ? cm_error(error) : 0;
}

int rdma_resolve_route(struct rdma_cm_id *id, int timeout_ms)
{
	struct cm_id *self = (struct cm_id *)id;
	struct standin_match match = {.peer_port = port_of(&id->route.addr.dst_addr)};
	struct standin_hit hit = {0};
	int error;

	(void)timeout_ms;
	standin_faults_refresh();
	standin_faults_check(STANDIN_RESOLVE_ROUTE, &match, &hit);
	pthread_mutex_lock(&cm_lock);
	error = hit.error ? hit.error : self->state == CM_ADDR_RESOLVED ? 0 : EINVAL;
	if (!error && hit.cm) {
		cm_post(self, NULL, RDMA_CM_EVENT_ROUTE_ERROR, hit.status, NULL, 0);
	} else if (!error) {
		id->route.path_rec = calloc(1, sizeof *id->route.path_rec);
		id->route.num_paths = id->route.path_rec ? 1 : 0;
		cm_set_state(self, CM_ROUTE_RESOLVED);
		cm_post(self, NULL, RDMA_CM_EVENT_ROUTE_RESOLVED, 0, NULL, 0);
	}
	pthread_mutex_unlock(&cm_lock);
	return error ? cm_error(error) : 0;
}

__be16 rdma_get_src_port(struct rdma_cm_id *id)
{
	return id->route.addr.src_sin.sin_port;
}

__be16 rdma_get_dst_port(struct rdma_cm_id *id)
{
	return id->route.addr.dst_sin.sin_port;
}
