package dev.verbatim.shuffle.registry;

import dev.verbatim.shuffle.fallback.ThrottledLog;
import dev.verbatim.shuffle.registry.Message.Announce;
import dev.verbatim.shuffle.registry.Message.Await;
import dev.verbatim.shuffle.registry.Message.Hello;
import dev.verbatim.shuffle.registry.Message.Publish;
import dev.verbatim.shuffle.registry.Message.Report;
import dev.verbatim.shuffle.registry.Message.Sync;
import org.apache.spark.rpc.RpcCallContext;
import org.apache.spark.rpc.RpcEndpointRef;
import org.apache.spark.rpc.RpcEnv;
import org.apache.spark.rpc.ThreadSafeRpcEndpoint;
import org.slf4j.LoggerFactory;
import scala.PartialFunction;
import scala.runtime.BoxedUnit;

/** Connects the registry to Spark's RPC. All messages are byte arrays: see {@link MessageCodec}. */
public final class RegistryEndpoint implements ThreadSafeRpcEndpoint {
  public static final String NAME = "verbatim-registry";
  private static final ThrottledLog LOG =
      new ThrottledLog(LoggerFactory.getLogger(RegistryEndpoint.class));

  private final RpcEnv rpcEnv;
  private final DriverRegistry registry;
  private final MessageCodec codec = new MessageCodec();

  private RegistryEndpoint(RpcEnv rpcEnv, DriverRegistry registry) {
    this.rpcEnv = rpcEnv;
    this.registry = registry;
  }

  /** Opens the registry to executors; {@link RpcEnv#stop} of the answer ends it. */
  public static RpcEndpointRef open(RpcEnv rpcEnv, DriverRegistry registry) {
    return rpcEnv.setupEndpoint(NAME, new RegistryEndpoint(rpcEnv, registry));
  }

  @Override
  public RpcEnv rpcEnv() {
    return rpcEnv;
  }

  @Override
  public PartialFunction<Object, BoxedUnit> receive() {
    return onBytes(this::receive);
  }

  @Override
  public PartialFunction<Object, BoxedUnit> receiveAndReply(RpcCallContext context) {
    return onBytes(
        bytes -> {
          try {
            answer(bytes, context);
          } catch (MalformedMessageException e) {
            context.sendFailure(e);
            throw e;
          }
        });
  }

  private void receive(byte[] bytes) throws MalformedMessageException {
    switch (codec.decode(bytes)) {
      case Report report -> registry.report(report);
      case Message other -> {
        String type = other.getClass().getName();
        LOG.warn(type, "Not a one-way message: " + type, null);
      }
    }
  }

  private void answer(byte[] bytes, RpcCallContext context) throws MalformedMessageException {
    switch (codec.decode(bytes)) {
      case Announce announce -> context.reply(codec.encode(registry.announce(announce)));
      case Publish publish -> context.reply(codec.encode(registry.publish(publish)));
      case Hello hello -> context.reply(codec.encode(registry.welcome()));
      case Sync sync -> registry.sync(sync, codec::encode, context::reply);
      case Await await -> registry.await(await, table -> context.reply(codec.encode(table)));
      case Message other ->
          context.sendFailure(
              new IllegalArgumentException("not a question: " + other.getClass().getName()));
    }
  }

  private interface Handler {
    void handle(byte[] bytes) throws MalformedMessageException;
  }

  private static PartialFunction<Object, BoxedUnit> onBytes(Handler handler) {
    return new BytesFunction(
        bytes -> {
          try {
            handler.handle(bytes);
          } catch (MalformedMessageException e) {
            LOG.warn("dropped", "A message was dropped: " + e.getMessage(), null);
          }
        });
  }
}
