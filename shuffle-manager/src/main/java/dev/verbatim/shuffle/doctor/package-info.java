/** Examines hosts: what RDMA needs there, what was seen, and the command that cures what lacks. */
package dev.verbatim.shuffle.doctor;
