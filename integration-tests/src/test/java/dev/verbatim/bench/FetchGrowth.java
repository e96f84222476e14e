package dev.verbatim.bench;

import dev.verbatim.examples.ShortErrors;
import dev.verbatim.examples.report.Figure;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * Measures how the time to fetch all blocks from one executor grows with their number, tenfold and
 * tenfold again, through this shuffle manager's reader and through that of Spark's own.
 */
@Command(name = "fetch-growth", mixinStandardHelpOptions = true)
public final class FetchGrowth implements Callable<Integer> {
  private static final List<Integer> MAPS = List.of(10, 100, 1000);
  private static final int REDUCERS = 100;

  /** Rounds before all others, until the compiler is about done. */
  private static final int WARM_UPS = 12;

  /** Rounds before those that count, for each number of blocks. */
  private static final int FEW_WARM_UPS = 2;

  @Parameters(index = "0", description = "standin or softroce.")
  private String deviceName;

  @Option(
      names = "--smallest",
      defaultValue = "1024",
      description = "Bytes of a block at least (default: 1024).")
  private int smallest;

  @Option(
      names = "--largest",
      defaultValue = "16384",
      description = "Bytes of a block at most (default: 16384).")
  private int largest;

  @Mixin private FigureOptions figures;

  public static void main(String[] arguments) {
    System.exit(ShortErrors.on(new CommandLine(new FetchGrowth())).execute(arguments));
  }

  @Override
  public Integer call() throws Exception {
    try (FetchTurns turns =
        new FetchTurns("fetch-growth", deviceName, "-XX:+UseSerialGC", Map.of())) {
      turns.run(blocks(MAPS.get(1)), 0, WARM_UPS, 0);
      for (int maps : MAPS) {
        RandomBlocks blocks = blocks(maps);
        FetchTurns.Sides sides = turns.run(blocks, 0, FEW_WARM_UPS, figures.rounds());
        figures.add(
            new Figure(
                "fetch-time-by-blocks",
                "time to fetch blocks of %,d to %,d bytes from one executor, %d of each map output"
                    .formatted(smallest, largest, REDUCERS),
                "ms",
                sides.ours(BlockFetch.Taken::wallMillis),
                sides.netty(BlockFetch.Taken::wallMillis),
                List.of(),
                FetchTurns.note(deviceName),
                new Figure.Point("Time to fetch by blocks", "blocks", blocks.count())));
      }
    }
    return 0;
  }

  private RandomBlocks blocks(int maps) {
    return new RandomBlocks(maps, REDUCERS, smallest, largest);
  }
}
