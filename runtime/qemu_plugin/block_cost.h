/* An estimate of the time that one execution of a block takes under qemu.
 *
 * The default clock (clock.h) needs it for code whose time it cannot measure, because qemu was
 * translating meanwhile. The cost of an instruction under qemu varies by a factor of a hundred: an
 * addition stays one, while a function computes a floating-point operation, lane by lane. So every
 * instruction has a weight by its kind, which is determined when its block is translated. Only the
 * ratios of the weights matter: the time of a unit on this machine is measured while the program
 * runs.
 */
#ifndef MAGIC_TRACE_RUNTIME_QEMU_PLUGIN_BLOCK_COST_H
#define MAGIC_TRACE_RUNTIME_QEMU_PLUGIN_BLOCK_COST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    BLOCK_COST_TICKS = 2, /* initial estimate of the ticks that a unit takes */

    /* More, when a way between two blocks is taken for the first time: a jump that the host has not
     * seen yet. */
    BLOCK_NEW_WAY_COST = 8,
};

/* In units, at least 1. The `count`
 * instructions of the block lie at `bytes`, as long as `length` says. Bytes that are no instruction
 * count as a simple one. */
uint32_t block_cost(const uint8_t *bytes, const uint8_t *length, size_t count);

/* The additional cost of a block of this many instructions when it runs for the first time: it is
 * not in the host's caches and branch predictors yet, and a conditional jump at its end is
 * mispredicted. Chosen so that the first run costs as much as the second, which is two to three
 * times as much as the third: measured with tests/e2e/shared/twice_programs.py. */
static inline uint64_t block_cold_cost(unsigned instructions, bool conditional)
{
    return (conditional ? 44u : 14u) + instructions * 3 / 4;
}

#endif
