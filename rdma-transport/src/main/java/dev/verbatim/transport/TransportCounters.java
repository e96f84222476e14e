package dev.verbatim.transport;

import java.util.Map;

/**
 * What a transport has done and holds, at one moment.
 *
 * @param readsCompleted READs (work requests) that ended well
 * @param readBytes bytes that they brought
 * @param readFailures failed work requests by name of the work completion status, and batches by
 *     {@code DEADLINE}
 * @param connectsInitiated connections made
 * @param connectsAccepted connections accepted
 * @param connectsRefused incoming requests refused, by reason
 * @param queuePairs queue pairs open now
 * @param memoryRegions regions registered now, the pool's slabs included
 * @param registeredBytes bytes registered now, the pool's slabs included
 * @param mappings memory mappings held now, of files and of anonymous memory
 * @param poolBytes bytes of the pool's slabs now
 * @param poolUsedBytes bytes of slices in use now
 * @param asyncEvents asynchronous events by name
 */
public record TransportCounters(
    long readsCompleted,
    long readBytes,
    Map<String, Long> readFailures,
    long connectsInitiated,
    long connectsAccepted,
    Map<String, Long> connectsRefused,
    int queuePairs,
    int memoryRegions,
    long registeredBytes,
    int mappings,
    long poolBytes,
    long poolUsedBytes,
    Map<String, Long> asyncEvents) {}
