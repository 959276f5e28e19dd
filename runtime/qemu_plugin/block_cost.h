/* What one execution of a block is likely to cost under qemu, in time.
 *
 * The default clock (clock.h) needs it for code whose time it cannot measure, because qemu was
 * translating meanwhile. What qemu makes of an instruction differs by a factor of a hundred: an
 * addition stays one, a floating-point operation is computed by a function, lane by lane. So every
 * instruction has a weight by its kind, decided when its block is translated. Only the relation of
 * the weights counts: what a unit takes on this machine is measured while the program runs.
 */
#ifndef MAGIC_TRACE_RUNTIME_QEMU_PLUGIN_BLOCK_COST_H
#define MAGIC_TRACE_RUNTIME_QEMU_PLUGIN_BLOCK_COST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    BLOCK_COST_TICKS = 2, /* a unit takes about so many ticks, as a beginning */

    /* More, when a way between two blocks is taken for the first time: a jump that the host has not
     * seen yet. */
    BLOCK_NEW_WAY_COST = 8,
};

/* In units, at least 1. The `count`
 * instructions of the block lie at `bytes`, as long as `length` says. Bytes that are no instruction
 * count as a simple one. */
uint32_t block_cost(const uint8_t *bytes, const uint8_t *length, size_t count);

/* More, when a block of so many instructions runs for the first time: nothing of it is in the
 * host's caches and branch predictors, and how a conditional jump at its end goes is a guess. So
 * that the first run costs what the second one does, which is two to three times as much as the
 * third: measured with tests/e2e/twice_programs.py. */
static inline uint64_t block_cold_cost(unsigned instructions, bool conditional)
{
    return (conditional ? 44u : 14u) + instructions * 3 / 4;
}

#endif
