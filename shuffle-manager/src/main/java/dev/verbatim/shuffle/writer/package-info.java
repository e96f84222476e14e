/** The map side: registers committed map outputs and has them published. */
package dev.verbatim.shuffle.writer;
