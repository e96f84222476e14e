/* The tables of the port: GIDs of the link-local and the configured address, each as RoCE v1 and v2, and one P_Key. */
#include "standin.h"

#include <endian.h>
#include <string.h>

#define GIDS 4

static const uint8_t link_local[16] = {0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0xc0, 0xff, 0xfe, 0, 0, 1};

int ibv_query_gid(struct ibv_context *context, uint8_t port, int index, union ibv_gid *gid)
{
	(void)context;
	if (port != STANDIN_PORT || index < 0 || index >= GIDS) {
		errno = EINVAL;
		return -1;
	}
	memcpy(gid->raw, index < 2 ? link_local : standin_address()->s6_addr, sizeof gid->raw);
	return 0;
}

int _ibv_query_gid_ex(struct ibv_context *context, uint32_t port, uint32_t index, struct ibv_gid_entry *entry,
		      uint32_t flags, size_t size)
{
	struct ibv_gid_entry all = {.gid_index = index, .port_num = port};

	if (flags)
		return EOPNOTSUPP;
	if (port != STANDIN_PORT || index >= GIDS)
		return EINVAL;
	ibv_query_gid(context, STANDIN_PORT, (int)index, &all.gid);
	all.gid_type = index % 2 ? IBV_GID_TYPE_ROCE_V2 : IBV_GID_TYPE_ROCE_V1;
	all.ndev_ifindex = standin_ifindex();
	memcpy(entry, &all, size < sizeof all ? size : sizeof all);
	return 0;
}

ssize_t _ibv_query_gid_table(struct ibv_context *context, struct ibv_gid_entry *entries, size_t max_entries,
			     uint32_t flags, size_t size)
{
	size_t count = max_entries < GIDS ? max_entries : GIDS;

	if (flags)
		return -EOPNOTSUPP;
	for (size_t i = 0; i < count; i++)
		_ibv_query_gid_ex(context, STANDIN_PORT, (uint32_t)i,
				  (struct ibv_gid_entry *)(void *)((char *)entries + i * size), 0, size);
	return (ssize_t)count;
}

int ibv_query_pkey(struct ibv_context *context, uint8_t port, int index, __be16 *pkey)
{
	(void)context;
	if (port != STANDIN_PORT || index != 0) {
		errno = EINVAL;
		return -1;
	}
	*pkey = htobe16(0xffff);
	return 0;
}

int ibv_get_pkey_index(struct ibv_context *context, uint8_t port, __be16 pkey)
{
	(void)context;
	return port == STANDIN_PORT && pkey == htobe16(0xffff) ? 0 : -1;
}
