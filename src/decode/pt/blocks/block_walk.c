#include "decode/pt/blocks/block_walk.h"

enum {
    /* This many blocks without a branch that needs a packet are a loop that no packet ends: the
     * packets do not belong to this code. */
    BLOCKS_WITHOUT_PACKET = 1 << 12,
};

/* The address after the block is known without packets. */
static bool goes_on_by_itself(const struct block *block)
{
    return block->kind == BRANCH_NONE || block->direct;
}

static enum decode_error why_empty(const struct block *block)
{
    return block->end == BLOCK_WITHOUT_IMAGE ? DECODE_NO_IMAGE : DECODE_BAD_CODE;
}

static void go_to(struct block_walk *walk, uint64_t ip)
{
    walk->at = block_cache_find(walk->cache, ip, walk->at->mode);
}

static void go_on(struct block_walk *walk)
{
    const struct block *block = walk->at;
    go_to(walk, block->direct ? block->target : block->next);
}

static void run(struct block_walk *walk)
{
    const struct block *block = walk->at;
    control_flow_block(walk->flow, block);
    if (block->kind == BRANCH_CALL && !block->reads_own_address)
        return_stack_push(walk->returns, (struct return_place){.address = block->next}, 1);
}

enum decode_error walk_to_branch(struct block_walk *walk)
{
    for (unsigned blocks = 0; blocks < BLOCKS_WITHOUT_PACKET; blocks++) {
        if (!walk->at->instructions)
            return why_empty(walk->at);
        run(walk);
        if (!goes_on_by_itself(walk->at))
            return DECODE_OK;
        go_on(walk);
    }
    return DECODE_ENDLESS;
}

static enum decode_error compressed_return(struct block_walk *walk)
{
    struct return_place place;
    if (!return_stack_pop(walk->returns, &place))
        return DECODE_EMPTY_RETURN_STACK;
    go_to(walk, place.address);
    return DECODE_OK;
}

enum decode_error walk_bit(struct block_walk *walk, bool taken)
{
    enum decode_error error = walk_to_branch(walk);
    if (error)
        return error;
    const struct block *block = walk->at;
    if (block->kind == BRANCH_RETURN)
        return taken ? compressed_return(walk) : DECODE_NOT_TAKEN_RETURN;
    if (block->kind != BRANCH_CONDITIONAL)
        return DECODE_BIT_AT_INDIRECT;
    go_to(walk, taken ? block->target : block->next);
    return DECODE_OK;
}

/* Runs the first instructions of the block, up to the one at `ip`; false if none begins there. */
static bool run_part(struct block_walk *walk, uint64_t ip)
{
    struct block part = *walk->at;
    part.kind = BRANCH_NONE;
    part.direct = part.reads_own_address = part.is_ptwrite = part.copies_stack = false;
    part.instructions = 0;
    part.next = part.ip;
    while (part.next < ip) {
        struct branch instruction =
            code_space_branch(&walk->cache->space, part.next, walk->at->mode);
        if (!instruction.length)
            return false;
        part.last = part.next;
        part.next += instruction.length;
        part.instructions++;
    }
    if (part.next != ip)
        return false;
    control_flow_block(walk->flow, &part);
    go_to(walk, ip);
    return true;
}

enum decode_error walk_to_ip(struct block_walk *walk, uint64_t ip)
{
    for (unsigned blocks = 0; blocks < BLOCKS_WITHOUT_PACKET; blocks++) {
        const struct block *block = walk->at;
        if (block->ip == ip)
            return DECODE_OK;
        if (!block->instructions)
            return why_empty(block);
        if (ip > block->ip && ip < block->next && run_part(walk, ip))
            return DECODE_OK;
        run(walk);
        if (!goes_on_by_itself(block))
            return DECODE_UNREACHED;
        go_on(walk);
    }
    return DECODE_ENDLESS;
}

enum decode_error walk_one(struct block_walk *walk)
{
    struct block *block = walk->at;
    if (!block->instructions)
        return why_empty(block);
    if (block->instructions == 1) {
        run(walk);
        go_on(walk);
        return DECODE_OK;
    }
    struct branch first = code_space_branch(&walk->cache->space, block->ip, block->mode);
    return run_part(walk, block->ip + first.length) ? DECODE_OK : DECODE_BAD_CODE;
}

/* Whether tracing may end in the branch at the end of the block that has just run, going to `ip`.
 */
static bool may_be_exit(const struct block_walk *walk, uint64_t ip,
                        const struct traced_code *traced)
{
    const struct block *block = walk->at;
    if (!goes_on_by_itself(block))
        return true;
    if (!ip)
        return block->direct && !traced_code_holds(traced, &walk->cache->space, block->target);
    return (block->direct ? block->target : block->next) == ip;
}

enum decode_error walk_to_exit(struct block_walk *walk, uint64_t ip,
                               const struct traced_code *traced)
{
    for (unsigned blocks = 0; blocks < BLOCKS_WITHOUT_PACKET; blocks++) {
        if (!walk->at->instructions)
            return why_empty(walk->at);
        run(walk);
        if (may_be_exit(walk, ip, traced))
            return DECODE_OK;
        go_on(walk);
    }
    return DECODE_ENDLESS;
}
