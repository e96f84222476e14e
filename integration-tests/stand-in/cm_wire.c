/* The thread that serves the sockets of all identifiers of the process. */
#include "cm.h"

#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#define TIMEWAIT_NS UINT64_C(50000000)

static int epoll = -1;
static int wake = -1;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int start_error;

void cm_watch(struct cm_id *id)
{
	struct epoll_event interest = {.events = EPOLLIN, .data.u64 = id->serial};

	epoll_ctl(epoll, EPOLL_CTL_ADD, id->sock, &interest);
}

void cm_close(struct cm_id *id)
{
	if (id->sock >= 0)
		close(id->sock);
	id->sock = -1;
}

int cm_send(struct cm_id *id, struct cm_message *message)
{
	if (standin_own_identity(&message->from))
		return ENOMEM;
	message->qp_num = id->id.qp ? id->id.qp->qp_num : message->qp_num;
	return send(id->sock, message, sizeof *message, MSG_NOSIGNAL) == (ssize_t)sizeof *message ? 0 : errno;
}

void cm_timewait(struct cm_id *id)
{
	id->timewait = standin_now() + TIMEWAIT_NS;
	eventfd_write(wake, 1);
}

static void accept_all(struct cm_id *listener)
{
	int sock;

	while ((sock = accept4(listener->sock, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
		struct cm_id *child = cm_new(listener->id.channel, listener->id.context, listener->id.ps);
		if (!child) {
			close(sock);
			continue;
		}
		child->listener = listener;
		child->sock = sock;
		cm_set_state(child, CM_INCOMING);
		cm_watch(child);
	}
}

static struct cm_id *find(uint64_t serial)
{
	struct cm_id *id = cm_ids;

	while (id && id->serial != serial)
		id = id->next;
	return id;
}

/* One message at a time: what it causes may end the identifier. */
static bool receive(uint64_t serial)
{
	struct cm_message message;
	struct cm_id *id = find(serial);

	if (!id || id->sock < 0)
		return false;
	if (id->state == CM_LISTENING) {
		accept_all(id);
		return false;
	}
	ssize_t size = recv(id->sock, &message, sizeof message, MSG_DONTWAIT);
	if (size == (ssize_t)sizeof message) {
		cm_received(id, &message);
		return true;
	}
	if (size < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	cm_close(id);
	cm_peer_gone(id);
	return false;
}

/* Posts the ends of timewait that are due; answers the milliseconds until the next. */
static int serve_timewait(void)
{
	uint64_t now = standin_now(), next = STANDIN_NEVER;

	for (struct cm_id *id = cm_ids; id; id = id->next) {
		if (id->timewait && id->timewait <= now) {
			id->timewait = 0;
			cm_post(id, NULL, RDMA_CM_EVENT_TIMEWAIT_EXIT, 0, NULL, 0);
		} else if (id->timewait && id->timewait < next) {
			next = id->timewait;
		}
	}
	return next == STANDIN_NEVER ? -1 : (int)((next - now) / 1000000) + 1;
}

static void *serve(void *argument)
{
	struct epoll_event ready[64];
	int timeout = -1;

	(void)argument;
	prctl(PR_SET_NAME, "standin-cm");
	for (;;) {
		int count = epoll_wait(epoll, ready, 64, timeout);
		pthread_mutex_lock(&cm_lock);
		for (int i = 0; i < count; i++) {
			eventfd_t ignored;
			if (ready[i].data.u64 == 0)
				(void)eventfd_read(wake, &ignored);
			else
				while (receive(ready[i].data.u64))
					continue;
		}
		timeout = serve_timewait();
		pthread_mutex_unlock(&cm_lock);
	}
	return NULL;
}

static void start(void)
{
	struct epoll_event interest = {.events = EPOLLIN, .data.u64 = 0};
	sigset_t all, before;
	pthread_t thread;

	epoll = epoll_create1(EPOLL_CLOEXEC);
	wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (epoll < 0 || wake < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, wake, &interest)) {
		start_error = errno;
		return;
	}
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	start_error = pthread_create(&thread, NULL, serve, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (start_error)
		return;
	pthread_detach(thread);
	standin_set_cm_hooks(cm_drop_all, cm_device_removed, cm_event_all);
}

int cm_wire_start(void)
{
	pthread_once(&once, start);
	errno = start_error;
	return start_error;
}
