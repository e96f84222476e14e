/**
 * RDMA for programs that know nothing of verbs. {@link dev.verbatim.transport.RdmaTransport} is the
 * way in: it opens a device's port. From there lead two ways, which can be used together:
 *
 * <ul>
 *   <li>READs of peers' memory in batches, with buffers of a pool, deadlines, peers that prove who
 *       they are and connections that come and go by themselves: {@link
 *       dev.verbatim.transport.RdmaTransport#connect}, {@link dev.verbatim.transport.ReadBatch}.
 *       The other side registers memory and does nothing else.
 *   <li>Endpoints, for programs that talk: messages, READ, WRITE, immediate data and atomic
 *       operations on connections that the program makes and ends: {@link
 *       dev.verbatim.transport.RdmaTransport#openGroup}, {@link
 *       dev.verbatim.transport.RdmaEndpoint}.
 * </ul>
 *
 * <p>A whole program with endpoints. Without an argument it listens, gives each peer memory to
 * write to, and prints what the peer has written when its message comes; with the address that it
 * has printed it is that peer.
 *
 * <pre>{@code
 * import dev.verbatim.transport.*;
 * import java.net.InetSocketAddress;
 * import java.nio.ByteBuffer;
 * import java.util.concurrent.CountDownLatch;
 *
 * public class Hello {
 *   public static void main(String[] args) throws Exception {
 *     RdmaTransport transport =
 *         switch (RdmaTransport.open(new TransportConfig().localName("hello"))) {
 *           case OpenResult.Opened opened -> opened.transport();
 *           case OpenResult.Unavailable none ->
 *               throw new IllegalStateException(none.seen() + "; try: " + none.remedy());
 *         };
 *     try (transport;
 *         EndpointGroup group = transport.openGroup(new EndpointConfig())) {
 *       if (args.length == 0) {
 *         serve(group);
 *       } else {
 *         greet(group, new InetSocketAddress(args[0], Integer.parseInt(args[1])));
 *       }
 *     }
 *   }
 *
 *   static void serve(EndpointGroup group) throws Exception {
 *     EndpointBuffer board = group.allocate(4096, MemoryAccess.REMOTE_WRITE);
 *     byte[] whereItIs = board.remote().put(ByteBuffer.allocate(RemoteMemory.BYTES)).array();
 *     CountDownLatch greeted = new CountDownLatch(1);
 *     EndpointListener listener =
 *         new EndpointListener() {
 *           @Override
 *           public void onPrepared(RdmaEndpoint endpoint) {
 *             try {
 *               endpoint.receive(1); // takes the notice of one WRITE
 *             } catch (EndpointException e) {
 *               endpoint.close();
 *             }
 *           }
 *
 *           @Override
 *           public void onCompletion(RdmaEndpoint endpoint, WorkCompletion end) {
 *             if (end.succeeded() && end.hasImmediate()) {
 *               System.out.println(end.immediate() + ": " + board.segment().getString(0));
 *               greeted.countDown();
 *             }
 *           }
 *         };
 *     InetSocketAddress address = group.listen(0, asks -> asks.accept(listener, whereItIs));
 *     System.out.println(address.getAddress().getHostAddress() + " " + address.getPort());
 *     greeted.await();
 *   }
 *
 *   static void greet(EndpointGroup group, InetSocketAddress server) throws Exception {
 *     CountDownLatch written = new CountDownLatch(1);
 *     EndpointListener listener =
 *         (endpoint, end) -> {
 *           System.out.println(end.describe());
 *           written.countDown();
 *         };
 *     EndpointBuffer words = group.allocate(100);
 *     words.segment().setString(0, "Hello, peer");
 *     RdmaEndpoint endpoint = group.connect(server, new byte[0], listener).get();
 *     RemoteMemory board = RemoteMemory.get(ByteBuffer.wrap(endpoint.peerData()));
 *     endpoint.writeWithImmediate(7, 42, board, words.all());
 *     written.await();
 *   }
 * }
 * }</pre>
 *
 * <p>Everything a listener is told comes on a thread of the transport and must not block it. The
 * package needs a JDK and slf4j, no Spark, and rdma-core's libraries at run time; the JVM wants
 * {@code --enable-native-access}.
 */
package dev.verbatim.transport;
