/* A queue of events behind an eventfd in semaphore mode: as many reads succeed as there are events. */
#include "standin.h"

#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

int standin_queue_init(struct standin_queue *queue)
{
	queue->fd = eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC);
	if (queue->fd < 0)
		return -1;
	pthread_mutex_init(&queue->lock, NULL);
	queue->head = NULL;
	queue->tail = &queue->head;
	return 0;
}

void standin_queue_destroy(struct standin_queue *queue)
{
	while (queue->head) {
		struct standin_node *node = queue->head;
		queue->head = node->next;
		free(node);
	}
	close(queue->fd);
	pthread_mutex_destroy(&queue->lock);
}

void standin_queue_push(struct standin_queue *queue, struct standin_node *node)
{
	node->next = NULL;
	pthread_mutex_lock(&queue->lock);
	*queue->tail = node;
	queue->tail = &node->next;
	eventfd_write(queue->fd, 1);
	pthread_mutex_unlock(&queue->lock);
}

static struct standin_node *unlink_node(struct standin_queue *queue, struct standin_node **link)
{
	struct standin_node *node = *link;

	*link = node->next;
	if (queue->tail == &node->next)
		queue->tail = link;
	node->next = NULL;
	return node;
}

struct standin_node *standin_queue_pop(struct standin_queue *queue, void (*taken)(struct standin_node *))
{
	for (;;) {
		eventfd_t count;
		if (eventfd_read(queue->fd, &count))
			return NULL;
		pthread_mutex_lock(&queue->lock);
		struct standin_node *node = queue->head ? unlink_node(queue, &queue->head) : NULL;
		if (node)
			taken(node);
		pthread_mutex_unlock(&queue->lock);
		if (node)
			return node;
		/* the event was removed between the read and the lock: as if it had never come */
	}
}

struct standin_node *standin_queue_remove(struct standin_queue *queue,
					  bool (*match)(struct standin_node *, const void *), const void *argument)
{
	struct standin_node *found = NULL;

	pthread_mutex_lock(&queue->lock);
	for (struct standin_node **link = &queue->head; *link; link = &(*link)->next) {
		if (!match(*link, argument))
			continue;
		found = unlink_node(queue, link);
		struct pollfd readable = {.fd = queue->fd, .events = POLLIN};
		eventfd_t count;
		if (poll(&readable, 1, 0) == 1)
			(void)eventfd_read(queue->fd, &count);
		break;
	}
	pthread_mutex_unlock(&queue->lock);
	return found;
}
