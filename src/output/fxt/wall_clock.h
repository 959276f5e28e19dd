/* The wall clock of a trace, in the form that Perfetto reads.
 *
 * The Fuchsia trace format has no record for it. Perfetto does read its own format, protobuf,
 * inside a blob, and there a snapshot of clocks: that the trace's time 0 (BOOTTIME, to which
 * Perfetto takes FXT times to belong) was this moment of REALTIME. Used by the trace writer and the
 * trace parser, which put the bytes into a blob record.
 *
 * Field numbers, {1 packet: {6 clock snapshot: {1 clock: {1 id, 2 nanoseconds}, ...}}}:
 * protos/perfetto/trace/trace.proto, trace_packet.proto and clock_snapshot.proto of Perfetto.
 */
#ifndef MAGIC_TRACE_OUTPUT_FXT_WALL_CLOCK_H
#define MAGIC_TRACE_OUTPUT_FXT_WALL_CLOCK_H

#include <stddef.h>
#include <stdint.h>

enum { WALL_CLOCK_SIZE_MAX = 64 }; /* bytes, a multiple of a word of the trace */

/* `wall_clock`: Unix nanoseconds at time 0. Returns how many bytes were written. */
size_t wall_clock_encode(uint8_t bytes[static WALL_CLOCK_SIZE_MAX], uint64_t wall_clock);

/* Sets *wall_clock when the bytes are a trace of Perfetto that begins with a snapshot of the two
 * clocks; otherwise, also with damage, leaves it unchanged. */
void wall_clock_decode(const uint8_t *bytes, size_t size, uint64_t *wall_clock);

#endif
