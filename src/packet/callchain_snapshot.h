/* The calls in progress behind a PSB, told in packets.
 *
 * From a PSB on a decoder knows what happens, but not who had called the function that runs. A
 * recorder that knows tells the return addresses, in MNT packets behind the PSB: first one that
 * says how many follow, then one for each, from the innermost caller outwards. Processors leave MNT
 * packets to their vendor (SDM volume 3, "Maintenance (MNT) Packet"); decoders skip those they do
 * not know, and the first one is marked.
 */
#ifndef MAGIC_TRACE_PACKET_CALLCHAIN_SNAPSHOT_H
#define MAGIC_TRACE_PACKET_CALLCHAIN_SNAPSHOT_H

#include <stdbool.h>
#include <stdint.h>

enum { CALLCHAIN_MARK = 0x4d544353, CALLCHAIN_PACKETS_MOST = 4096 };

/* The first one. `all`: the last caller was called by nobody. */
static inline uint64_t callchain_header(uint32_t count, bool all)
{
    return (uint64_t)CALLCHAIN_MARK << 32 | (uint64_t)count << 1 | all;
}

static inline bool callchain_is_header(uint64_t payload)
{
    return payload >> 32 == CALLCHAIN_MARK && (uint32_t)payload >> 1 <= CALLCHAIN_PACKETS_MOST;
}

static inline uint32_t callchain_count(uint64_t header)
{
    return (uint32_t)header >> 1;
}

static inline bool callchain_is_whole(uint64_t header)
{
    return header & 1;
}

/* The others: in the low 47 bits a return address, or, marked, the instruction at which a signal
 * interrupted the caller; above it how many more callers in a row are the same. */
enum { CALLCHAIN_REPEATED_SHIFT = 47, CALLCHAIN_REPEATED_MOST = 0xffff };
#define CALLCHAIN_INTERRUPTED ((uint64_t)1 << 63)
#define CALLCHAIN_ADDRESS_MASK (((uint64_t)1 << CALLCHAIN_REPEATED_SHIFT) - 1)

static inline uint32_t callchain_repeated(uint64_t payload)
{
    return (uint32_t)(payload >> CALLCHAIN_REPEATED_SHIFT) & CALLCHAIN_REPEATED_MOST;
}

#endif
