package dev.verbatim.bench.registry;

import dev.verbatim.shuffle.registry.BytesFunction;
import org.apache.spark.rpc.RpcCallContext;
import org.apache.spark.rpc.RpcEnv;
import org.apache.spark.rpc.ThreadSafeRpcEndpoint;
import scala.PartialFunction;
import scala.runtime.BoxedUnit;

/** Takes arrays of bytes and answers each with an empty one. */
record BytesEndpoint(RpcEnv rpcEnv) implements ThreadSafeRpcEndpoint {
  static final String NAME = "bytes";

  static void open(RpcEnv rpcEnv) {
    rpcEnv.setupEndpoint(NAME, new BytesEndpoint(rpcEnv));
  }

  @Override
  public PartialFunction<Object, BoxedUnit> receiveAndReply(RpcCallContext context) {
    return new BytesFunction(_ -> context.reply(new byte[0]));
  }
}
