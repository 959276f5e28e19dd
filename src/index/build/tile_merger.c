#include "index/build/tile_merger.h"

struct piece_merger piece_merger_new(unsigned shift)
{
    return (struct piece_merger){
        .shift = shift,
        .pieces = array_of(sizeof(struct merged_piece)),
        .open = array_of(sizeof(uint32_t)),
    };
}

void piece_merger_free(struct piece_merger *merger)
{
    array_free(&merger->pieces);
    array_free(&merger->open);
}

static uint32_t *open_at(struct piece_merger *merger, uint32_t depth)
{
    while (merger->open.count <= depth)
        array_add(&merger->open);
    return array_at(&merger->open, depth);
}

static void merge(struct piece_item *piece, const struct piece_item *item)
{
    if (item->longest > piece->longest) {
        piece->longest = item->longest;
        piece->function = item->function;
    }
    if (__builtin_add_overflow(piece->spans, item->spans, &piece->spans))
        piece->spans = UINT32_MAX;
    piece->end = item->end;
    piece->flags = piece->ending = 0;
}

struct merged_piece *piece_merger_add(struct piece_merger *merger, const struct piece_item *item)
{
    uint32_t *open = open_at(merger, item->depth);
    bool alone = is_piece_alone(item, merger->shift);
    if (!alone && *open) {
        struct merged_piece *piece = array_at(&merger->pieces, *open - 1);
        if (piece->item.start >> merger->shift == item->start >> merger->shift) {
            merge(&piece->item, item);
            return piece;
        }
    }
    struct merged_piece *piece = array_add(&merger->pieces);
    piece->item = *item;
    *open = alone ? 0 : (uint32_t)merger->pieces.count;
    return piece;
}

bool piece_merger_may_grow(const struct piece_merger *merger, size_t index)
{
    const struct merged_piece *piece = array_at(&merger->pieces, index);
    return *(const uint32_t *)array_at(&merger->open, piece->item.depth) == index + 1;
}

void piece_merger_filter(struct piece_merger *merger,
                         bool (*keeps)(void *context, const struct merged_piece *piece,
                                       bool may_grow),
                         void *context)
{
    size_t kept = 0;
    for (size_t i = 0; i < merger->pieces.count; i++) {
        const struct merged_piece *piece = array_at(&merger->pieces, i);
        uint32_t *open = array_at(&merger->open, piece->item.depth);
        bool may_grow = *open == i + 1;
        if (keeps(context, piece, may_grow)) {
            *(struct merged_piece *)array_at(&merger->pieces, kept++) = *piece;
            if (may_grow)
                *open = (uint32_t)kept;
        } else if (may_grow) {
            *open = 0;
        }
    }
    merger->pieces.count = kept;
}
