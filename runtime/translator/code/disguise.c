#include "runtime/translator/code/disguise.h"

#include "runtime/translator/code/emit.h"

enum { R11 = 1, RCX = 2, RDX = 4, SCRATCH_SHIFT = 3 };

void tr_disguises_add(struct tr_disguises *disguises, uint64_t pc, uint64_t offset,
                      const struct tr_disguise *disguise)
{
    unsigned hidden = disguise->r11 ? R11 : 0;
    hidden |= disguise->borrowed >> TR_RCX & 1 ? RCX : 0;
    hidden |= disguise->borrowed >> TR_RDX & 1 ? RDX : 0;
    hidden |= (unsigned)(disguise->scratch + 1) << SCRATCH_SHIFT;
    unsigned count = disguises->count;
    if (count > 0 && disguises->all[count - 1].offset == offset)
        disguises->count = --count;
    if (count == TR_MOST_DISGUISES)
        return;
    disguises->all[disguises->count++] = (struct tr_kept_disguise){
        .pc = (int32_t)(disguise->pc - pc),
        .offset = (uint16_t)offset,
        .block = (uint8_t)disguise->block,
        .hidden = (uint8_t)hidden,
    };
}

uint32_t tr_disguises_keep(struct tr_region *region, const struct tr_disguises *disguises)
{
    enum { GAP = 8 };
    uint32_t size = disguises->count * (uint32_t)sizeof disguises->all[0];
    if (!tr_area_prepare(&region->cold, GAP + sizeof disguises->count + size))
        return 0;
    struct tr_emitter cold = {region->cold.start + region->cold.used, 0};
    tr_emit_gap_8(&cold);
    uint32_t offset = (uint32_t)(cold.at - region->cold.start);
    tr_emit_32(&cold, disguises->count);
    tr_emit_bytes(&cold, (const uint8_t *)disguises->all, size);
    region->cold.used = (uint64_t)(cold.at - region->cold.start);
    return offset;
}

bool tr_disguise_find(const struct tr_region *region, uint32_t kept, uint64_t pc, uint64_t offset,
                      struct tr_disguise *disguise)
{
    const struct tr_disguises *disguises = (const void *)(region->cold.start + kept);
    unsigned at = 0;
    while (at < disguises->count && disguises->all[at].offset <= offset)
        at++;
    if (at == 0)
        return false;
    const struct tr_kept_disguise *found = &disguises->all[at - 1];
    *disguise = (struct tr_disguise){
        .pc = pc + (uint64_t)(int64_t)found->pc,
        .block = found->block,
        .r11 = found->hidden & R11,
        .borrowed = (uint16_t)((found->hidden & RCX ? 1u << TR_RCX : 0) |
                               (found->hidden & RDX ? 1u << TR_RDX : 0)),
        .scratch = (int)(found->hidden >> SCRATCH_SHIFT) - 1,
    };
    return true;
}

void tr_disguise_undo(const struct tr_disguise *disguise, struct tr_hot *hot,
                      struct tr_state *state)
{
    if (!disguise->r11)
        hot->log = state->r[TR_R11];
    state->pc = disguise->pc;
    if (!disguise->r11)
        state->r[TR_R11] = hot->r11;
    if (disguise->scratch >= 0)
        state->r[disguise->scratch] = hot->scratch;
    if (disguise->borrowed >> TR_RCX & 1)
        state->r[TR_RCX] = hot->rcx;
    if (disguise->borrowed >> TR_RDX & 1)
        state->r[TR_RDX] = hot->rdx;
}
