/**
 * Measures latency and bandwidth between two endpoints: {@link
 * dev.verbatim.transport.measure.MeasureServer} on one side, {@link
 * dev.verbatim.transport.measure.Measure} on the other. {@link
 * dev.verbatim.transport.measure.ReadMeasure} does so by a transport's connection.
 *
 * <pre>{@code
 * // on one host
 * try (MeasureServer server = MeasureServer.listen(group, 18515)) {
 *   System.in.read();
 * }
 *
 * // on the other
 * Measurement result =
 *     new Measure(group, new InetSocketAddress("10.0.0.7", 18515))
 *         .run(new MeasureConfig().operation(MeasuredOperation.READ).bytes(65_536).depth(16));
 * System.out.println(result.megabytesPerSecond());
 * }</pre>
 */
package dev.verbatim.transport.measure;
