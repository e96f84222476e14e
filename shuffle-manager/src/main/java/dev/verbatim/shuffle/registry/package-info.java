/** The driver's registry of map outputs and the executors' access to it. */
package dev.verbatim.shuffle.registry;
