package dev.verbatim.transport;

/**
 * What a queue pair has room for.
 *
 * @param sendRequests work requests of the send queue
 * @param receiveRequests work requests of the receive queue, from 1
 * @param slices pieces of memory of one request, from 1
 * @param inlineBytes bytes that a request may carry itself
 */
record QueuePairSizes(int sendRequests, int receiveRequests, int slices, int inlineBytes) {}
