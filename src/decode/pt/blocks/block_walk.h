/* Follows a program block by block, as the packets say.
 *
 * The slow path of decoding, by which tnt_cache.c also learns its entries. Reports each block to a
 * control_flow, which makes the flow events. Used by the decoder and by tnt_cache.c.
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
    struct block *at; /* runs next; or, after walk_to_branch, has just run */
};

/* Runs code that needs no packet, up to and including the branch that does. */
enum decode_error walk_to_branch(struct block_walk *walk);

/* As walk_to_branch, and takes that branch by one TNT bit. DECODE_EMPTY_RETURN_STACK and
 * DECODE_BIT_AT_INDIRECT: `at` is the branch, which has run. */
enum decode_error walk_bit(struct block_walk *walk, bool taken);

/* Runs code that needs no packet, up to but not including the instruction at `ip`. */
enum decode_error walk_to_ip(struct block_walk *walk, uint64_t ip);

/* Runs one instruction, which needs no packet. */
enum decode_error walk_one(struct block_walk *walk);

/* Runs up to and including the branch that ended tracing: one to `ip`, or one that may need a
 * packet. `ip` 0: unknown; then a jump or call out of the traced code is one, too. */
enum decode_error walk_to_exit(struct block_walk *walk, uint64_t ip,
                               const struct traced_code *traced);

#endif
