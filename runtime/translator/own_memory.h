/* Memory that belongs to the runtime inside the traced address space: its image, the arena, the code cache, threads'
 * memory. The program's system calls must not change it, and code in it is never reported.
 *
 * Any thread, at any time, without a lock; fork copies them. The entry of a removed range is not used again: few are
 * removed.
 */
#ifndef MAGIC_TRACE_RUNTIME_TRANSLATOR_OWN_MEMORY_H
#define MAGIC_TRACE_RUNTIME_TRANSLATOR_OWN_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tr_own_range {
    uint64_t start, end;
};

/* Whole pages. False when there is no memory to remember it in. */
bool tr_own_add(uint64_t start, uint64_t size);

/* mmap where nothing of the program's is or will be (places.h), for ranges that are added afterwards. The kernel's result. */
int64_t tr_own_mmap(uint64_t size, uint64_t protection, uint64_t flags);

/* Before the first range of a process that ran natively: where that is. */
void tr_own_begin_at(uint64_t address);

/* New private anonymous memory, never given back; NULL: the system has no more. */
void *tr_own_map(size_t size);

/* Before `size` bytes of address space are mapped and added: the kernel's limit grows by them, where the program has one of its own. */
void tr_own_make_room(uint64_t size);

/* From now on the program limits its address space to `bytes` (RLIMIT_AS; UINT64_MAX: no longer). The kernel's limit is to be higher by
 * what is the runtime's: that sum, which the caller sets. */
uint64_t tr_own_limit(uint64_t bytes);

/* The limit that the kernel has by that; UINT64_MAX: the program has none. */
uint64_t tr_own_limit_in_kernel(void);

/* The program's filter forbids to change it: it grows once more, by what the runtime may need from now on. */
void tr_own_fix_limit(void);
bool tr_own_limit_is_fixed(void);

/* Makes all pages of [start, start + size), which begins and ends with a page, at once (MADV_POPULATE_WRITE, Linux 5.14): a small part of
 * the time of as many page faults. Their content stays as it is. False: it cannot be done, or not for all of them, as on a full disk. */
bool tr_own_populate(uint64_t start, uint64_t size);

/* It is not done from now on: the program's seccomp filter may kill it for the system call. */
void tr_own_forbid_populate(void);

/* The range that begins at `start` is about to be unmapped. */
void tr_own_remove(uint64_t start);

/* The lowest own range that ends above `address`. False: none. */
bool tr_own_next(uint64_t address, struct tr_own_range *range);

/* Unmaps all own ranges but those that begin at `kept` or hold `also`, and gives the kernel the program's own limit. No thread uses them any more. */
void tr_own_unmap_all(uint64_t kept, uint64_t also);

bool tr_own_overlaps(uint64_t start, uint64_t end);

#endif
