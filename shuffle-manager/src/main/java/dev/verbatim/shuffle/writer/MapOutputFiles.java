package dev.verbatim.shuffle.writer;

import java.nio.file.Path;

/**
 * The committed files of one map output.
 *
 * @param data partitions one after the other; absent when all are empty
 * @param index big-endian offsets, one more than partitions
 */
public record MapOutputFiles(int shuffleId, long mapId, Path data, Path index) {}
