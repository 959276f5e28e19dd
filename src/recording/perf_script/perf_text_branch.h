/* perf script's names for the kinds of branches: "call", "tr end  syscall", "hw int".
 *
 * Called by perf_text.c. Source: sample_flags and perf_sample__sprintf_flags of
 * tools/perf/builtin-script.c of Linux 6.1; kinds without a name are printed as letters
 * (PERF_IP_FLAG_CHARS of tools/perf/util/event.h). Later versions add details between slashes:
 * "jcc/br_miss,not_taken/".
 */
#ifndef MAGIC_TRACE_RECORDING_PERF_SCRIPT_PERF_TEXT_BRANCH_H
#define MAGIC_TRACE_RECORDING_PERF_SCRIPT_PERF_TEXT_BRANCH_H

#include "recording/perf_script/text_cursor.h"

enum perf_text_branch_kind {
    PERF_TEXT_NO_BRANCH, /* only a start or end of tracing, or a branch that was not taken */
    PERF_TEXT_CALL,
    PERF_TEXT_RETURN,
    PERF_TEXT_JUMP,
    PERF_TEXT_CONDITIONAL,
    PERF_TEXT_SYSCALL,
    PERF_TEXT_SYSCALL_RETURN,
    PERF_TEXT_INTERRUPT, /* by an instruction: int n */
    PERF_TEXT_INTERRUPT_RETURN,
    PERF_TEXT_HARDWARE_INTERRUPT,
    PERF_TEXT_ASYNCHRONOUS, /* interrupt, fault, signal */
    PERF_TEXT_TRANSACTION_ABORT,
    PERF_TEXT_GUEST_ENTRY, /* of a virtual machine */
    PERF_TEXT_GUEST_EXIT,
};

struct perf_text_branch {
    enum perf_text_branch_kind kind;
    bool starts, ends;   /* tracing, at this branch */
    bool in_transaction; /* of TSX */
};

/* Takes the words, up to the address that follows. False for unknown ones. */
bool perf_text_branch_take(struct text_cursor *text, struct perf_text_branch *branch);

#endif
