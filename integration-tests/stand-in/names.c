/* Names of numbers, for people. */
#include "standin.h"

#define NAME(value) [value] = #value
#define LOOK_UP(table, index) \
	((unsigned)(index) < sizeof(table) / sizeof *(table) && (table)[index] ? (table)[index] : "unknown")

const char *ibv_wc_status_str(enum ibv_wc_status status)
{
	static const char *const names[] = {
		NAME(IBV_WC_SUCCESS),	       NAME(IBV_WC_LOC_LEN_ERR),	NAME(IBV_WC_LOC_QP_OP_ERR),
		NAME(IBV_WC_LOC_EEC_OP_ERR),   NAME(IBV_WC_LOC_PROT_ERR),	NAME(IBV_WC_WR_FLUSH_ERR),
		NAME(IBV_WC_MW_BIND_ERR),      NAME(IBV_WC_BAD_RESP_ERR),	NAME(IBV_WC_LOC_ACCESS_ERR),
		NAME(IBV_WC_REM_INV_REQ_ERR),  NAME(IBV_WC_REM_ACCESS_ERR),	NAME(IBV_WC_REM_OP_ERR),
		NAME(IBV_WC_RETRY_EXC_ERR),    NAME(IBV_WC_RNR_RETRY_EXC_ERR),	NAME(IBV_WC_LOC_RDD_VIOL_ERR),
		NAME(IBV_WC_REM_INV_RD_REQ_ERR), NAME(IBV_WC_REM_ABORT_ERR),	NAME(IBV_WC_INV_EECN_ERR),
		NAME(IBV_WC_INV_EEC_STATE_ERR), NAME(IBV_WC_FATAL_ERR),		NAME(IBV_WC_RESP_TIMEOUT_ERR),
		NAME(IBV_WC_GENERAL_ERR),      NAME(IBV_WC_TM_ERR),		NAME(IBV_WC_TM_RNDV_INCOMPLETE),
	};
	return LOOK_UP(names, status);
}

const char *ibv_port_state_str(enum ibv_port_state state)
{
	static const char *const names[] = {
		NAME(IBV_PORT_NOP),   NAME(IBV_PORT_DOWN),   NAME(IBV_PORT_INIT),
		NAME(IBV_PORT_ARMED), NAME(IBV_PORT_ACTIVE), NAME(IBV_PORT_ACTIVE_DEFER),
	};
	return LOOK_UP(names, state);
}

const char *ibv_event_type_str(enum ibv_event_type type)
{
	static const char *const names[] = {
		NAME(IBV_EVENT_CQ_ERR),		  NAME(IBV_EVENT_QP_FATAL),
		NAME(IBV_EVENT_QP_REQ_ERR),	  NAME(IBV_EVENT_QP_ACCESS_ERR),
		NAME(IBV_EVENT_COMM_EST),	  NAME(IBV_EVENT_SQ_DRAINED),
		NAME(IBV_EVENT_PATH_MIG),	  NAME(IBV_EVENT_PATH_MIG_ERR),
		NAME(IBV_EVENT_DEVICE_FATAL),	  NAME(IBV_EVENT_PORT_ACTIVE),
		NAME(IBV_EVENT_PORT_ERR),	  NAME(IBV_EVENT_LID_CHANGE),
		NAME(IBV_EVENT_PKEY_CHANGE),	  NAME(IBV_EVENT_SM_CHANGE),
		NAME(IBV_EVENT_SRQ_ERR),	  NAME(IBV_EVENT_SRQ_LIMIT_REACHED),
		NAME(IBV_EVENT_QP_LAST_WQE_REACHED), NAME(IBV_EVENT_CLIENT_REREGISTER),
		NAME(IBV_EVENT_GID_CHANGE),	  NAME(IBV_EVENT_WQ_FATAL),
	};
	return LOOK_UP(names, type);
}

const char *ibv_node_type_str(enum ibv_node_type type)
{
	static const char *const names[] = {
		NAME(IBV_NODE_CA),   NAME(IBV_NODE_SWITCH),  NAME(IBV_NODE_ROUTER),
		NAME(IBV_NODE_RNIC), NAME(IBV_NODE_USNIC), NAME(IBV_NODE_USNIC_UDP),
	};
	return LOOK_UP(names, type);
}
