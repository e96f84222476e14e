/** Why a process, a peer, a map output or a block is left to Spark's own transfer. */
package dev.verbatim.shuffle.fallback;
