package dev.verbatim.examples;

/** Bytes of remote shuffle blocks by what carried them. */
record TransferBytes(long rdma, long tcp) {}
