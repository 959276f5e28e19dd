/* The call stack that a sample carries, in the forms in which the kernel writes it.
 *
 * `perf record --call-graph fp` makes the kernel follow frame pointers; `lbr` makes the processor
 * record which calls are active; `dwarf` saves registers and the top of the stack, from which
 * readers of the recording find the callers. The kernel always unwinds its own part of the stack
 * itself. Layout: enum perf_event_type in linux/perf_event.h, at PERF_RECORD_SAMPLE, the fields
 * after PERF_SAMPLE_RAW.
 *
 * Read from a sample only on request: the samples of most recordings are only markers. Called by
 * decode/. The results point into the perf_data and need not be aligned.
 */
#ifndef MAGIC_TRACE_RECORDING_PERF_DATA_RECORDED_STACK_H
#define MAGIC_TRACE_RECORDING_PERF_DATA_RECORDED_STACK_H

#include "recording/perf_data/perf_data_reader.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct recorded_stack {
    /* PERF_SAMPLE_CALLCHAIN: 64-bit words, the innermost first; PERF_CONTEXT_* among them say
     * whether kernel or user addresses follow. */
    const uint8_t *chain;
    size_t chain_count;
    /* PERF_SAMPLE_BRANCH_STACK of a recording with PERF_SAMPLE_BRANCH_CALL_STACK: the calls that
     * are open, the newest first. NULL: not recorded. */
    const uint8_t *calls; /* struct perf_branch_entry */
    size_t call_count;
    /* PERF_SAMPLE_REGS_USER: the registers of the program, those of `register_mask` (bits are enum
     * perf_event_x86_regs of asm/perf_regs.h), 64 bits each. NULL: not recorded, or there is no
     * program, as in a thread of the kernel. */
    const uint8_t *registers;
    uint64_t register_mask;
    bool is_64_bit;
    /* PERF_SAMPLE_STACK_USER: the bytes from the program's stack pointer on. */
    const uint8_t *bytes;
    size_t size;
};

/* What the SIDEBAND_SAMPLE `record` of `data` carries; all empty when it carries no stack. False
 * when it is damaged. */
bool recorded_stack_read(const struct perf_data *data, const struct sideband_record *record,
                         struct recorded_stack *stack);

/* Word `index` of a chain. */
static inline uint64_t recorded_stack_word(const struct recorded_stack *stack, size_t index)
{
    uint64_t word;
    memcpy(&word, stack->chain + index * sizeof word, sizeof word);
    return word;
}

/* A register by its number in asm/perf_regs.h; false when it was not recorded. */
bool recorded_stack_register(const struct recorded_stack *stack, unsigned number, uint64_t *value);

#endif
