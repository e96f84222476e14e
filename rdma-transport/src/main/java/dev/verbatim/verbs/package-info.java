/**
 * The binding of {@code libibverbs} and {@code librdmacm} by the foreign function API, and nothing
 * above it: one method per C function, one class per C struct, one enum per C enumeration.
 *
 * <p>{@link dev.verbatim.verbs.NativeLibraries#load} is the way in. Layouts and constants are those
 * of 64-bit Linux and are proven against the real headers by a test.
 */
package dev.verbatim.verbs;
