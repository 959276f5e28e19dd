/* The truth log: which blocks a thread ran, and where its stack pointer stood.
 *
 * Written by truth_plugin.c inside qemu, read by truth_log.c. All in a folder:
 *   PID.N.blocks   the blocks that process PID translated, in its N-th program (N grows at execve)
 *   PID.TID.N      the blocks that thread TID ran there, in order
 * Both are a header and then entries of one size up to the end of the file or to the first that is
 * all zero: files grow by mapped windows, so that a killed program loses nothing.
 */
#ifndef MAGIC_TRACE_TESTS_TRUTH_FORMAT_H
#define MAGIC_TRACE_TESTS_TRUTH_FORMAT_H

#include <stdint.h>

#define TRUTH_BLOCKS_MAGIC UINT64_C(0x314b4c4248545254)  /* "TRTHBLK1" */
#define TRUTH_RECORDS_MAGIC UINT64_C(0x3143455248545254) /* "TRTHREC1" */

/* Of both kinds of file. What the program was forked from (all 0: from nothing): that thread's log
 * holds `parent_records` records of what had happened up to then. */
struct truth_header {
    uint64_t magic;
    uint32_t pid, tid, generation;
    uint32_t parent_pid, parent_tid, parent_generation;
    uint64_t parent_records;
    uint64_t unused[3]; /* entries are aligned to their size */
};

/* How a block ends, as far as stacks are concerned. */
enum truth_block_end {
    TRUTH_END_OTHER,
    TRUTH_END_CALL,
    TRUTH_END_RETURN,
    TRUTH_END_INDIRECT_JUMP,
    TRUTH_END_SYSTEM_CALL,
};

/* One translation of a block. Its id is its index in the file, from 1. A *place* is a block of no
 * instructions: where the program stood when a signal came. */
struct truth_block {
    uint64_t pc;         /* never 0 */
    uint64_t last;       /* address of its last instruction; 0 of a place */
    uint64_t end;        /* after it */
    uint8_t ends_in;     /* enum truth_block_end */
    uint8_t loads_rsp;   /* an instruction puts something else into RSP than RSP +- x */
    uint8_t from_memory; /* ... and takes it from memory */
    uint8_t unused[5];
};

enum truth_flag {
    /* The block before ended in a call, and its return address is what RSP points to. Or a signal
     * handler has made it look like a call from where the program was interrupted. */
    TRUTH_CALLED = 1,
    /* A signal handler that the kernel has just set up: RSP points to its restorer. */
    TRUTH_SIGNAL = 2,
    /* rt_sigreturn led here. */
    TRUTH_SIGNAL_RETURN = 4,
    /* No block: a caller on the stack that the next block begins on, which another thread may have
     * left there (Go). `rsp` is where the return address lies that `block` (a place) begins with.
     * The innermost caller comes first; before it what lies at RSP, which is the innermost caller
     * when the code has no frame yet. */
    TRUTH_CALLER = 8,
};

/* A block begins to run. */
struct truth_record {
    uint32_t block;     /* its id */
    uint32_t flags : 8; /* enum truth_flag */
    uint32_t g : 24; /* bits 5 to 28 of R14, where compiled Go code has the address of its goroutine
                        (Go's ABIInternal); distinguishes goroutines within 512 MiB */
    uint64_t rsp;    /* at its entry */
};

#endif
