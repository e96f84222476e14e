package dev.verbatim.examples;

/** Bytes of remote shuffle blocks by what carried them. */
record TransferBytes(long rdma, long tcp) {
  TransferBytes minus(TransferBytes other) {
    return new TransferBytes(rdma - other.rdma, tcp - other.tcp);
  }

  TransferBytes plus(TransferBytes other) {
    return new TransferBytes(rdma + other.rdma, tcp + other.tcp);
  }
}
