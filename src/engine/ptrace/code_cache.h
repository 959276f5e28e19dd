/* The code of a process that is being stepped, as basic blocks for the encoder.
 *
 * Read from the process's memory once per block (process_vm_readv); all blocks are dropped when a
 * system call may have changed the mappings. One per process, used by the ptrace supervisor alone.
 */
#ifndef MAGIC_TRACE_ENGINE_PTRACE_CODE_CACHE_H
#define MAGIC_TRACE_ENGINE_PTRACE_CODE_CACHE_H

#include "packet/encoder.h"

#include <stdbool.h>
#include <sys/types.h>

struct code_cache {
    pid_t pid;
    struct cached_block *blocks; /* a hash table; owned */
};

/* The block that begins at `pc`; NULL when there is no code there that can be read. Valid until
 * code_cache_forget. */
struct pt_code_block *code_cache_get(struct code_cache *cache, uint64_t pc);
/* Whether the last instruction of a block of the cache pushes the flags. */
bool code_cache_pushes_flags(const struct pt_code_block *block);
void code_cache_forget(struct code_cache *cache);

#endif
