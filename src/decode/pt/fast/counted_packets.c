/* The fast path of counting: takes TNT, TIP and CYC packets by superblocks (tnt_cache.h), of which
 * it counts how often each ran (path_counts.h). Makes no flow events. Leaves all other packets to
 * decoder_packets.c.
 */
#include "decode/pt/fast/fast_path.h"

/* What runs from the current block on, whose superblock is learnt for that if need be. */
static inline struct path_count *current_path(struct decoder *decoder)
{
    struct path_counts *counts = decoder->tnt_cache->counts;
    struct path_count *path = path_counts_at(counts, decoder->at_id);
    if (__builtin_expect(path->kind != BRANCH_NONE, 1))
        return path;
    struct block *block = block_of_id(cache_of(decoder), decoder->at_id);
    const struct superblock *superblock = &block->superblock;
    if (superblock->kind == SUPERBLOCK_UNKNOWN)
        tnt_cache_learn_superblock(decoder->tnt_cache, block);
    path_counts_grow(counts);
    path = path_counts_at(counts, decoder->at_id);
    path->kind = superblock->kind;
    path->instructions = superblock->instructions;
    path->push_count = superblock->push_count;
    return path;
}

/* Runs the superblock of the current block. */
static inline void run_path(struct decoder *decoder, const struct path_count *path)
{
    if (path->push_count > 0) {
        const struct block *block = block_of_id(cache_of(decoder), decoder->at_id);
        push_all(decoder, block->superblock.pushes, path->push_count);
    }
    decoder->flow.position += path->instructions;
    decoder->last_id = decoder->at_id;
}

/* Where the conditional jump goes, noted for the next time. */
static uint32_t find_target(struct decoder *decoder, bool taken)
{
    const struct block *block = block_of_id(cache_of(decoder), decoder->at_id);
    const struct block *branch = block->superblock.branch;
    uint32_t to = block_at(decoder, taken ? branch->target : branch->next)->id;
    path_counts_at(decoder->tnt_cache->counts, decoder->at_id)->to[taken] = to;
    return to;
}

static inline void take_conditional(struct decoder *decoder, struct path_count *path, bool taken)
{
    uint32_t to = path->to[taken];
    path->count[taken]++;
    run_path(decoder, path);
    decoder->at_id = __builtin_expect(to != 0, 1) ? to : find_target(decoder, taken);
}

/* The branch that has just run went to the block of this id. */
static inline void arrive(struct decoder *decoder, uint32_t to)
{
    path_counts_target(decoder->tnt_cache->counts, decoder->last_id, to);
    decoder->at_id = to;
}

/* A compressed return. False if there is no call to return from; then nothing has changed. */
static inline bool take_return(struct decoder *decoder, const struct path_count *path)
{
    struct return_place place = {0};
    if (path->push_count == 0 && !return_stack_newest(&decoder->returns, &place))
        return false;
    run_path(decoder, path);
    return_stack_pop(&decoder->returns, &place);
    arrive(decoder, place.block ? place.block : block_at(decoder, place.address)->id);
    return true;
}

/* Takes the bits as far as it can, oldest first, of which the first is bit 63. Returns how many are
 * left. */
static inline unsigned take_bits(struct decoder *decoder, uint64_t bits, unsigned count)
{
    for (; count > 0; count--, bits <<= 1) {
        struct path_count *path = current_path(decoder);
        bool taken = bits >> 63;
        if (__builtin_expect(path->kind == BRANCH_CONDITIONAL, 1))
            take_conditional(decoder, path, taken);
        else if (path->kind != BRANCH_RETURN || !taken || !take_return(decoder, path))
            return count;
    }
    return 0;
}

static inline enum way take_tnt(struct decoder *decoder, struct tnt tnt)
{
    if (tnt.count == 0)
        return WAY_STOP;
    decoder->next += tnt.size;
    unsigned left = take_bits(decoder, tnt.bits << (64 - tnt.count), tnt.count);
    if (left > 0) {
        fast_tnt_give_up(decoder, tnt.bits, left);
        return WAY_LEFT;
    }
    fast_tnt_report(decoder);
    return WAY_ON;
}

static inline enum way take_tip(struct decoder *decoder)
{
    const struct path_count *path = current_path(decoder);
    struct return_place place = {0};
    uint64_t ip;
    bool returns = path->kind == BRANCH_RETURN;
    if (!read_tip(decoder, &ip) || decoder->mode != decoder->next_mode ||
        (!returns && path->kind != BRANCH_CALL && path->kind != BRANCH_JUMP))
        return WAY_STOP;
    run_path(decoder, path);
    if (returns)
        return_stack_pop(&decoder->returns, &place);
    arrive(decoder, block_at(decoder, ip)->id);
    pass_tip(decoder, ip);
    if (decoder->time_is_news)
        anchor_branch(decoder);
    return WAY_ON;
}

static inline enum way take_packet(struct decoder *decoder)
{
    const uint8_t *packet = decoder->next;
    if (is_short_tnt(packet))
        return take_tnt(decoder, short_tnt(packet));
    if (is_tip(packet))
        return take_tip(decoder);
    if (is_cyc(packet))
        return fast_cyc(decoder);
    return is_long_tnt(packet) ? take_tnt(decoder, long_tnt(packet)) : WAY_STOP;
}

void decoder_take_counted_packets(struct decoder *decoder, uint64_t *steps)
{
    const uint8_t *end = decoder->end - LONGEST_FAST_PATH;
    const struct reported_flow flow = control_flow_reported(&decoder->flow);
    struct path_counts *counts = decoder->tnt_cache->counts;
    const struct event_batch *batch = &decoder->flow.batch; /* has the time, as steps report it */
    enum way way = WAY_ON;
    path_counts_begin(counts, flow.thread, flow.time);
    fast_path_enter(decoder);
    for (; way == WAY_ON && decoder->next < end && *steps &&
           batch->anchor_time.value < counts->until.value;
         --*steps)
        way = take_packet(decoder);
    if (way == WAY_LEFT)
        return;
    fast_path_leave(decoder);
    decoder_check_deadline(decoder);
}
