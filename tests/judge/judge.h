/* What the judges print, so that their results can be compared line by line: per thread, how much
 * was executed.
 *
 * A judge decodes a recording by other means than magic-trace's decoder does, or is that decoder's
 * own count to be compared with. Their output on stdout is tid TID: N instructions, N calls, N
 * returns, N syscalls, N interrupts, N errors in the order of the threads' rings in the file.
 */
#ifndef MAGIC_TRACE_TESTS_JUDGE_JUDGE_H
#define MAGIC_TRACE_TESTS_JUDGE_JUDGE_H

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>

struct judgement {
    uint32_t tid;
    uint64_t instructions, calls, returns, syscalls, interrupts, errors;
};

static inline void print_judgement(const struct judgement *judgement)
{
    printf("tid %" PRIu32 ": %" PRIu64 " instructions, %" PRIu64 " calls, %" PRIu64
           " returns, %" PRIu64 " syscalls, %" PRIu64 " interrupts, %" PRIu64 " errors\n",
           judgement->tid, judgement->instructions, judgement->calls, judgement->returns,
           judgement->syscalls, judgement->interrupts, judgement->errors);
}

#endif
