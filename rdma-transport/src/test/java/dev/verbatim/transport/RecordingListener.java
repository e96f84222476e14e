package dev.verbatim.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;

/** Remembers how a batch ended, for tests. */
final class RecordingListener implements ReadListener {
  final List<String> ends = new ArrayList<>();
  ReadFailure failure;

  @Override
  public void onSuccess() {
    ends.add("success");
  }

  @Override
  public void onFailure(ReadFailure failure) {
    ends.add(failure.kind().name());
    this.failure = failure;
  }

  void assertEnded(String how) {
    assertEquals(List.of(how), ends);
  }

  void assertPending() {
    assertEquals(List.of(), ends);
  }
}
