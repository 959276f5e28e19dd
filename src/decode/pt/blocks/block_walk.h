/* Follows a program along its blocks, as packets say: block by block.
 *
 * The plain way to decode, and the one by which tnt_cache.c learns its shortcuts. Reports each block to
 * a control_flow, which makes the flow events. Used by the decoder and by tnt_cache.c.
 */
#ifndef MAGIC_TRACE_DECODE_PT_BLOCKS_BLOCK_WALK_H
#define MAGIC_TRACE_DECODE_PT_BLOCKS_BLOCK_WALK_H

#include "decode/decode_error.h"
#include "decode/pt/blocks/block_cache.h"
#include "decode/pt/blocks/control_flow.h"
#include "decode/pt/blocks/return_stack.h"
#include "decode/pt/blocks/traced_code.h"

struct block_walk {
    struct block_cache *cache;
    struct control_flow *flow;
    struct return_stack *returns;
    struct block *at; /* runs next; or, behind walk_to_branch, has just run */
};

/* Runs what needs no packet, up to and including the branch that does. */
enum decode_error walk_to_branch(struct block_walk *walk);

/* The same, and one TNT bit's branch. DECODE_EMPTY_RETURN_STACK and DECODE_BIT_AT_INDIRECT: `at` is
 * the branch, which has run. */
enum decode_error walk_bit(struct block_walk *walk, bool taken);

/* Runs what needs no packet, up to but not including the instruction at `ip`. */
enum decode_error walk_to_ip(struct block_walk *walk, uint64_t ip);

/* Runs one instruction, which needs no packet. */
enum decode_error walk_one(struct block_walk *walk);

/* Runs up to and including a branch to `ip`, or a branch that packets may be needed for: where
 * tracing ended. `ip` 0: not known; then a jump or call out of what is traced is one, too. */
enum decode_error walk_to_exit(struct block_walk *walk, uint64_t ip,
                               const struct traced_code *traced);

#endif
