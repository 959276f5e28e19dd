#include "flow/block_traps.h"

#include "base/memory.h"

#include <stdlib.h>

void block_traps_clear(struct block_traps *traps, uint64_t first, uint64_t last,
                       uint64_t generation)
{
    block_traps_free(traps);
    *traps = (struct block_traps){.first = first, .last = last, .generation = generation};
}

static void add(struct block_traps *traps, const struct x86_trap *trap, uint64_t bias)
{
    traps->traps = memory_resize(traps->traps, (traps->count + 1) * sizeof(*traps->traps));
    struct x86_trap *added = &traps->traps[traps->count++];
    *added = *trap;
    added->address += bias;
    if (added->handler)
        added->handler += bias;
}

void block_traps_scan(struct block_traps *traps, const struct x86_code *code,
                      const struct x86_place *chain, uint64_t bias)
{
    struct x86_code in_object = {code->bytes, code->size, code->address - bias};
    struct x86_trap_scan scan =
        x86_trap_begin(&in_object, chain, traps->first - bias, traps->last - bias);
    struct x86_trap trap;
    while (x86_trap_next(&scan, &trap))
        add(traps, &trap, bias);
}

void block_traps_free(struct block_traps *traps)
{
    free(traps->traps);
    *traps = (struct block_traps){0};
}
