package dev.verbatim.examples.profile;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.util.List;
import org.junit.jupiter.api.Test;

class SampleTest {
  private static final String TASK =
      "Executor task launch worker for task 1.0 in stage 2.0 (TID 3)";

  /** The innermost frame first. */
  private static Sample sample(String thread, String... frames) {
    return new Sample(thread, 1, List.of(frames), 0.005);
  }

  @Test
  void shouldCountOurMethodsAndWhatTheyCall() {
    Sample sample =
        sample(
            TASK,
            "java.util.HashMap.get",
            "com.esotericsoftware.kryo.Kryo.readObject",
            "dev.verbatim.shuffle.registry.MessageCodec.decode",
            "dev.verbatim.shuffle.reader.RdmaShuffleReader.read",
            "org.apache.spark.rdd.ShuffledRDD.compute");
    assertEquals("registry", sample.part());
    assertEquals("MessageCodec.decode", sample.method());
  }

  @Test
  void shouldLeaveToSparkWhatItDoesForOurCaller() {
    assertNull(
        sample(
                TASK,
                "java.util.TimSort.sort",
                "org.apache.spark.shuffle.sort.ShuffleExternalSorter.insertRecord",
                "dev.verbatim.shuffle.writer.RegisteringWriter.write",
                "org.apache.spark.scheduler.ShuffleMapTask.runTask")
            .part());
    assertNull(sample("shuffle-client-4-1", "io.netty.channel.epoll.Native.epollWait").part());
    assertNull(sample("", new String[0]).part());
  }

  @Test
  void shouldCountAllOfOurThreads() {
    Sample sample =
        sample(
            "verbatim-publish-0",
            "org.apache.spark.rpc.netty.NettyRpcEnv.ask",
            "dev.verbatim.shuffle.registry.DriverLink.send",
            "java.lang.Thread.run");
    assertEquals("verbatim-publish", sample.part());
    assertEquals("DriverLink.send", sample.method());
    assertEquals("verbatim-poller", sample("verbatim-poller-mlx5_0").part());
    assertEquals("no stack", sample("verbatim-fetch-3", new String[0]).method());
  }

  @Test
  void shouldNotCountTheProgramsThatMeasure() {
    assertNull(
        sample("main", "java.lang.String.hashCode", "dev.verbatim.examples.JobResult.of").part());
  }
}
