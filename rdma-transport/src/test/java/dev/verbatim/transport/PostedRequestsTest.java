package dev.verbatim.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class PostedRequestsTest {
  @Test
  void shouldKeepTheOrderAroundTheRing() {
    for (int depth : new int[] {1, 2, 3, 5, 64}) {
      PostedRequests posted = new PostedRequests(depth);
      long nextIn = 0;
      long nextOut = 0;
      for (int round = 0; round < 500; round++) {
        int sequence = posted.add(nextIn++, WorkOperation.values()[round % 5]);
        assertTrue(sequence >= 0, "the sign tells receives");
        if (posted.isFull()) {
          assertEquals(depth, posted.count());
          assertTrue(posted.isOldest((int) nextOut));
          assertFalse(posted.isOldest((int) nextOut + 1));
          assertEquals(WorkOperation.values()[(int) (nextOut % 5)], posted.oldestOperation());
          assertEquals(nextOut++, posted.oldestId());
          posted.removeOldest();
        }
      }
    }
  }

  @Test
  void shouldForgetWhatCouldNotBePosted() {
    PostedRequests posted = new PostedRequests(2);
    posted.add(1, WorkOperation.SEND);
    int refused = posted.add(2, WorkOperation.READ);
    posted.undoAdd();
    assertEquals(refused, posted.add(3, WorkOperation.WRITE));
    posted.removeOldest();
    assertEquals(3, posted.oldestId());
    posted.removeOldest();
    assertEquals(0, posted.count());
    assertFalse(posted.isOldest(2));
  }
}
