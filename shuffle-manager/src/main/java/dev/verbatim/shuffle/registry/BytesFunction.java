package dev.verbatim.shuffle.registry;

import java.util.function.Consumer;
import scala.runtime.AbstractPartialFunction;
import scala.runtime.BoxedUnit;

/** What an endpoint of Spark's RPC does with messages that are byte arrays; it takes no others. */
public final class BytesFunction extends AbstractPartialFunction<Object, BoxedUnit> {
  private final Consumer<byte[]> action;

  public BytesFunction(Consumer<byte[]> action) {
    this.action = action;
  }

  @Override
  public boolean isDefinedAt(Object message) {
    return message instanceof byte[];
  }

  @Override
  public BoxedUnit apply(Object message) {
    action.accept((byte[]) message);
    return BoxedUnit.UNIT;
  }
}
