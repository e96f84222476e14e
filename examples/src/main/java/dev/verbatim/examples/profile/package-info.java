/** Where the CPU time of jobs goes: recordings of the processes, read and drawn. */
package dev.verbatim.examples.profile;
