package dev.verbatim.shuffle.ui;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.util.kvstore.KVStore;
import org.apache.spark.util.kvstore.KVStoreIterator;

/** What events have told, in the store that the history server has for an application. */
final class StatusStore {
  private final KVStore store;

  StatusStore(KVStore store) {
    this.store = store;
  }

  void take(SparkListenerRdmaStatus event) {
    try {
      store.write(event.application());
      for (ExecutorRow row : event.executors()) {
        store.write(row);
      }
      for (ShuffleRow row : event.shuffles()) {
        store.write(row);
      }
      for (String id : event.forgottenExecutors()) {
        store.delete(ExecutorRow.class, id);
      }
      for (Integer id : event.forgottenShuffles()) {
        store.delete(ShuffleRow.class, id);
      }
    } catch (Exception e) {
      throw new IllegalStateException("the history server's store does not take rows", e);
    }
  }

  /** False when the application had no such events. */
  boolean isPresent() {
    try {
      return store.count(ApplicationRow.class) > 0;
    } catch (Exception e) {
      throw new IllegalStateException("the history server's store cannot be read", e);
    }
  }

  RdmaStatus read() {
    try {
      return new RdmaStatus(
          store.read(ApplicationRow.class, ApplicationRow.KEY),
          all(ExecutorRow.class),
          all(ShuffleRow.class));
    } catch (Exception e) {
      throw new IllegalStateException("the history server's store cannot be read", e);
    }
  }

  private <T> List<T> all(Class<T> type) throws Exception {
    List<T> all = new ArrayList<>();
    try (KVStoreIterator<T> rows = store.view(type).closeableIterator()) {
      rows.forEachRemaining(all::add);
    }
    return all;
  }
}
