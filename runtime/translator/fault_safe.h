/* The only instructions of the runtime that may fault: they touch memory at addresses which the
 * program named.
 *
 * When one faults, the master handler (signal_delivery.c) makes the function return false; a write to a page
 * that is protected because code was translated from it (code_pages.h) is mended, so not under
 * process->lock. */
#ifndef MAGIC_TRACE_RUNTIME_TRANSLATOR_FAULT_SAFE_H
#define MAGIC_TRACE_RUNTIME_TRANSLATOR_FAULT_SAFE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Copies between the runtime's and the program's memory. A part may have been copied before the fault: of more than 16 bytes what lies
 * before it. */
bool tr_copy_safely(void *to, const void *from, size_t size);

/* Loads one word. */
bool tr_load_safely(uint64_t *to, uint64_t from);

static inline bool tr_read_safely(void *to, uint64_t from, size_t size)
{
    return tr_copy_safely(to, (const void *)from, size);
}

static inline bool tr_write_safely(uint64_t to, const void *from, size_t size)
{
    return tr_copy_safely((void *)to, from, size);
}

/* XSAVE, XRSTOR (SDM volume 1, chapter 13) of the components in the set `features`; FXSAVE,
 * FXRSTOR. False, too, when the processor refuses what it reads. */
bool tr_xsave_safely(uint64_t area, uint64_t features);
bool tr_xrstor_safely(uint64_t area, uint64_t features);
bool tr_fxsave_safely(uint64_t area);
bool tr_fxrstor_safely(uint64_t area);

/* Whether `pc` is one of these instructions. */
bool tr_is_fault_safe(uint64_t pc);

/* Where to go on after such a fault. */
__attribute__((visibility("hidden"))) void tr_fault_safe_failed(void);

#endif
