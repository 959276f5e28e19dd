/* Lengths of time as people write and read them.
 *
 * Used by the reports. Units: ns, us (also µs), ms, s.
 */
#ifndef MAGIC_TRACE_OUTPUT_DURATION_H
#define MAGIC_TRACE_OUTPUT_DURATION_H

#include <stdbool.h>
#include <stdint.h>

/* Room for any formatted duration. */
enum { DURATION_TEXT_SIZE = 32 };

/* Four significant digits and a unit: "12 ns", "1.234 us", "56.78 ms", "1234 s". Returns `text`. */
char *duration_format(char text[static DURATION_TEXT_SIZE], uint64_t nanoseconds);

/* As duration_format, of a single call: "<1 ns" where it began and ended within one. */
char *duration_format_call(char text[static DURATION_TEXT_SIZE], uint64_t nanoseconds);

/* All digits, in the unit that duration_format would choose: "1.234567 ms". For moments, where two
 * near ones must be distinguishable. Returns `text`. */
char *duration_format_exact(char text[static DURATION_TEXT_SIZE], uint64_t nanoseconds);

/* "1.5ms", "20 us", "3s", "300" (nanoseconds). False when `text` is no length of time or does not
 * fit 63 bits. */
bool duration_parse(const char *text, uint64_t *nanoseconds);

/* Whether there is more to it than a number: for lengths of which "5" is rather 5 ms than 5 ns. */
bool duration_has_unit(const char *text);

#endif
