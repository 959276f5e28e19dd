/* The active calls after a PSB, in packets; and of a stack that code has changed to.
 *
 * From a PSB on a decoder knows what happens, but not who called the function that runs. A recorder
 * that knows emits the return addresses in MNT packets after the PSB: first a header that says how
 * many follow, then one for each caller, from the innermost outwards. Processors leave the meaning
 * of MNT packets to the vendor (SDM volume 3, "Maintenance (MNT) Packet"). Decoders skip those they
 * do not know; the header carries CALLCHAIN_MARK.
 *
 * Code may change to a stack that a decoder does not know, because it was suspended before the PSB. Then its callers
 * follow there, with CALLCHAIN_PLACED in the header, and after them a PTWRITE with a FUP that says where.
 */
#ifndef MAGIC_TRACE_PACKET_CALLCHAIN_SNAPSHOT_H
#define MAGIC_TRACE_PACKET_CALLCHAIN_SNAPSHOT_H

#include <stdbool.h>
#include <stdint.h>

enum { CALLCHAIN_MARK = 0x4d544353, CALLCHAIN_PACKETS_MOST = 4096 };

/* In the header. */
#define CALLCHAIN_PLACED ((uint64_t)1 << 31)

/* The header. `all`: the last caller is the outermost frame of its stack. */
static inline uint64_t callchain_header(uint32_t count, bool all)
{
    return (uint64_t)CALLCHAIN_MARK << 32 | (uint64_t)count << 1 | all;
}

static inline bool callchain_is_header(uint64_t payload)
{
    return payload >> 32 == CALLCHAIN_MARK &&
           (uint32_t)(payload & ~CALLCHAIN_PLACED) >> 1 <= CALLCHAIN_PACKETS_MOST;
}

static inline uint32_t callchain_count(uint64_t header)
{
    return (uint32_t)(header & ~CALLCHAIN_PLACED) >> 1;
}

static inline bool callchain_is_placed(uint64_t header)
{
    return header & CALLCHAIN_PLACED;
}

static inline bool callchain_is_whole(uint64_t header)
{
    return header & 1;
}

/* The payload of the packets that follow: in the low 47 bits a return address, or with
 * CALLCHAIN_INTERRUPTED the instruction at which a signal interrupted the caller; above it how many
 * more callers in a row are the same. */
enum { CALLCHAIN_REPEATED_SHIFT = 47, CALLCHAIN_REPEATED_MOST = 0xffff };
#define CALLCHAIN_INTERRUPTED ((uint64_t)1 << 63)
#define CALLCHAIN_ADDRESS_MASK (((uint64_t)1 << CALLCHAIN_REPEATED_SHIFT) - 1)

static inline uint32_t callchain_repeated(uint64_t payload)
{
    return (uint32_t)(payload >> CALLCHAIN_REPEATED_SHIFT) & CALLCHAIN_REPEATED_MOST;
}

#endif
