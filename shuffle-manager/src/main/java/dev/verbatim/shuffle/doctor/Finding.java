package dev.verbatim.shuffle.doctor;

/**
 * What one check found at one thing.
 *
 * @param check name of the check
 * @param subject what was looked at, for example {@code mlx5_0 port 1}; empty for the host
 * @param seen what is there, or why that could not be seen
 * @param needed what should be there; empty where nothing lacks
 * @param cure what to do, a command where there is one; empty where nothing lacks
 */
public record Finding(
    String check, String subject, Verdict verdict, String seen, String needed, String cure) {}
