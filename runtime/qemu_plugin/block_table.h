/* The descriptions of all translated blocks of a process.
 *
 * Generated code holds pointers to them, so they live as long as the process. qemu discards its
 * translations and makes them again (its buffer is full, a page has changed); a block with the same
 * bytes at the same address gets its old description. Used under qemu's translation lock, by one
 * thread at a time.
 */
#ifndef MAGIC_TRACE_RUNTIME_QEMU_PLUGIN_BLOCK_TABLE_H
#define MAGIC_TRACE_RUNTIME_QEMU_PLUGIN_BLOCK_TABLE_H

#include "packet/encoder.h"
#include "runtime/qemu_plugin/qemu_plugin.h"

struct block_table {
    struct block_entry *entries; /* hash; owned */
};

/* What of a translation matters for its description. */
struct block_code {
    uint64_t pc;
    uint64_t guest_base; /* host address of guest address 0 */
    bool changeable;     /* the code may change without a system call (JIT) */
    bool compress_returns;
};

/* NULL when there is no memory left: the block then runs unseen, and the encoder resynchronises
 * after it. */
struct pt_code_block *block_table_get(struct block_table *table, const struct qemu_plugin_tb *tb,
                                      const struct block_code *code);

/* Bytes that qemu says are in the block, also those of an instruction that it did not translate. */
uint64_t block_code_size(const struct qemu_plugin_tb *tb);

#endif
