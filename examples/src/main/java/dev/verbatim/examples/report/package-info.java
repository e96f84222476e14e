/**
 * Measured figures: spread, goals, the machine, and a page of tables and charts for any of them.
 */
package dev.verbatim.examples.report;
