package dev.verbatim.transport;

import dev.verbatim.verbs.RdmaCmId;
import dev.verbatim.verbs.Sockaddr;
import dev.verbatim.verbs.VerbsException;
import java.lang.foreign.Arena;
import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The listeners of a group and the requests to connect that nobody has answered yet. Runs on the
 * event thread.
 */
final class EndpointAcceptor {
  private static final int BACKLOG = 256;

  /** Each holds an identifier of the kernel, for as long as the connect timeout. */
  private static final int MOST_UNANSWERED = 256;

  private static final Logger LOG = LoggerFactory.getLogger(EndpointAcceptor.class);

  private final EndpointGroup group;
  private final Set<ConnectionRequest> requests = new HashSet<>();
  private final Map<InetSocketAddress, CmEndpoint> listeners = new HashMap<>();

  EndpointAcceptor(EndpointGroup group) {
    this.group = group;
  }

  /**
   * Begins to listen.
   *
   * @return the address to connect to
   */
  InetSocketAddress listen(int listenPort, Consumer<ConnectionRequest> handler)
      throws VerbsException {
    CmEndpoint endpoint = group.cmEndpoints().create((_, event) -> onListenerEvent(event, handler));
    try (Arena arena = Arena.ofConfined()) {
      endpoint.setTrafficClass(group.config().trafficClass());
      InetSocketAddress wanted = new InetSocketAddress(group.address(), listenPort);
      group.port().rdmaCm().bindAddr(endpoint.id(), Sockaddr.allocate(arena, wanted));
      group.port().rdmaCm().listen(endpoint.id(), BACKLOG);
      int bound = group.port().rdmaCm().getSrcPort(endpoint.id());
      InetSocketAddress address = new InetSocketAddress(group.address(), bound);
      listeners.put(address, endpoint);
      return address;
    } catch (VerbsException | RuntimeException | Error e) {
      endpoint.destroy();
      throw e;
    }
  }

  /** Ends one listener. */
  void endListener(InetSocketAddress address) {
    CmEndpoint listener = listeners.remove(address);
    if (listener != null) {
      listener.destroy();
    }
  }

  private void onListenerEvent(CmEvent event, Consumer<ConnectionRequest> handler) {
    switch (event.type().consequence()) {
      case INCOMING -> onRequest(event, handler);
      case DEVICE_REMOVED -> group.deviceFailed(event.type().cName());
      default -> LOG.debug("{} at a listener of endpoints", event.describe());
    }
  }

  private void onRequest(CmEvent event, Consumer<ConnectionRequest> handler) {
    InetSocketAddress peer =
        Sockaddr.read(RdmaCmId.PEER_ADDR.get(RdmaCmId.STRUCT.at(event.id())))
            .orElse(new InetSocketAddress(0));
    ConnectionRequest request = new ConnectionRequest(group, event, peer, System.nanoTime());
    request.adopted(group.cmEndpoints().adopt(event.id(), request::onEvent));
    requests.add(request);
    if (requests.size() > MOST_UNANSWERED) {
      request.rejectNow("as many requests as may wait for an answer here");
      return;
    }
    try {
      handler.accept(request);
    } catch (Throwable e) {
      WakeUp.say(e, LOG, "The handler of requests to connect failed");
      request.rejectNow("the peer failed to answer");
    }
  }

  void answered(ConnectionRequest request) {
    requests.remove(request);
  }

  /** Rejects what has waited too long. */
  void checkDeadlines(long now) {
    List.copyOf(requests).forEach(request -> request.checkDeadline(now));
  }

  void rejectAll(String why) {
    List.copyOf(requests).forEach(request -> request.rejectNow(why));
  }

  /** Ends the listeners; peers are refused by the system from now on. */
  void close() {
    listeners.values().forEach(CmEndpoint::destroy);
    listeners.clear();
  }
}
