package dev.verbatim.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.Mockito.doThrow;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.times;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import dev.verbatim.verbs.Errno;
import dev.verbatim.verbs.NativeLibraries;
import dev.verbatim.verbs.Pollfd;
import dev.verbatim.verbs.Posix;
import dev.verbatim.verbs.PosixConstants;
import dev.verbatim.verbs.VerbsException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class WakeUpTest {

  @Test
  void shouldEndTheWaitUntilItIsDrained() throws Exception {
    Posix posix = assertInstanceOf(NativeLibraries.Loaded.class, NativeLibraries.load()).posix();
    WakeUp wakeUp = new WakeUp(posix);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment fds = Pollfd.STRUCT.allocate(arena);
      Pollfd.FD.set(fds, wakeUp.fd());
      Pollfd.EVENTS.set(fds, (short) PosixConstants.POLLIN);
      Thread signaller = Thread.ofPlatform().start(wakeUp::signal);
      assertEquals(1, posix.poll(fds, 1, 60_000));
      signaller.join();
      wakeUp.drain();
      assertEquals(0, posix.poll(fds, 1, 0));
    } finally {
      wakeUp.close();
    }
  }

  @Test
  void shouldTouchNoDescriptorAfterClose() throws Exception {
    Posix posix = mock(Posix.class);
    when(posix.eventfd()).thenReturn(42);
    WakeUp wakeUp = new WakeUp(posix);
    wakeUp.signal();
    wakeUp.close();
    wakeUp.close();
    wakeUp.signal();
    verify(posix, times(1)).signal(42);
    verify(posix, times(1)).close(42);
  }

  static Stream<Throwable> failures() {
    return Stream.of(new VerbsException("write", Errno.EBADF, ""), new InternalError("test"));
  }

  @ParameterizedTest
  @MethodSource("failures")
  void shouldLetTheSignallerGoOnWhenItCannotSignal(Throwable failure) throws Exception {
    Posix posix = mock(Posix.class);
    doThrow(failure).when(posix).signal(anyInt());
    new WakeUp(posix).signal();
    verify(posix).signal(anyInt());
  }
}
