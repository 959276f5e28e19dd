/* Changes a stream of Intel PT packets packet by packet, so that most of it stays well formed:
 * bytes changed at random seldom get past the packet decoder.
 *
 * Used by the fuzz target of the flow decoder. libipt's packet decoder finds the packets,
 * which is not under test.
 */
#ifndef MAGIC_TRACE_FUZZ_PACKET_MUTATOR_H
#define MAGIC_TRACE_FUZZ_PACKET_MUTATOR_H

#include <stddef.h>
#include <stdint.h>

struct packet_mutator {
    uint64_t first_address, end_address; /* of the code: what addresses are put into packets */
};

/* Removes, repeats, moves, inserts or alters one packet of `bytes`, which has room for `capacity`.
 * The new size; `size` itself when there was nothing to change or no room. The same `seed` makes
 * the same change. */
size_t packet_mutator_change(const struct packet_mutator *mutator, uint8_t *bytes, size_t size,
                             size_t capacity, unsigned seed);

#endif
