package dev.verbatim.it.transport;

import dev.verbatim.transport.OpenResult;
import dev.verbatim.transport.RdmaTransport;

/** A process of its own that tells in one line whether it can open a transport. */
public final class OpenAttempt {
  private OpenAttempt() {}

  public static void main(String[] args) {
    switch (RdmaTransport.open(Transports.config("attempt"))) {
      case OpenResult.Opened opened -> {
        System.out.println("OPENED " + opened.transport().info());
        opened.transport().close();
      }
      case OpenResult.Unavailable none ->
          System.out.println(none.reason() + ": " + none.seen() + "; " + none.remedy());
    }
  }
}
