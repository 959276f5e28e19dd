/* What is mapped where, as far as code is concerned: which file, which rights; reporting it to the recorder; and noticing when
 * code changes under its translation.
 *
 * Called by translate.c before it reads code at an address it does not know yet, by syscall.c after calls that change
 * mappings, by the master handler on faults. Under process->lock, but for tr_probe_read, tr_code_written, tr_code_writes_itself and the two of open files.
 */
#ifndef MAGIC_TRACE_RUNTIME_TRANSLATOR_CODE_PAGES_H
#define MAGIC_TRACE_RUNTIME_TRANSLATOR_CODE_PAGES_H

#include "runtime/translator/fault_safe.h"
#include "runtime/translator/thread.h"

enum tr_code {
    TR_CODE_NONE, /* not mapped, or not executable, or ours: executing there raises SIGSEGV */
    TR_CODE_FILE, /* of a file, not writable: does not change without a system call */
    TR_CODE_PROTECTED, /* writable as the program wants it; write-protected now, a fault shows when it changes */
    TR_CODE_CHANGING, /* is written so often that protecting it does not pay: fragments check their own bytes */
};

struct tr_code_range {
    uint64_t start, end; /* addresses that this holds for */
    enum tr_code kind;
    uint64_t device, inode,
        file_offset;    /* of start, for TR_CODE_FILE (places to stop at): else 0 */
    bool vdso;          /* the vDSO or vsyscall page */
    bool writes_itself; /* an instruction may change the next one */
};

/* Copies `size` bytes at an address of the program. False when not all can be read. */
static inline bool tr_probe_read(void *to, uint64_t from, size_t size)
{
    return tr_read_safely(to, from, size);
}

/* Before all else, in a new process: what it has mapped was there since now. */
void tr_code_begin(struct tr_thread *thread);

/* What there is at `pc`. Looks into /proc/self/maps when it is not known, and reports new code to the sideband log
 * (mapping records; code in no file is dumped, again whenever its bytes have changed). Protects writable code.
 * `thread` is for the records. */
struct tr_code_range tr_code_at(struct tr_thread *thread, uint64_t pc);

/* Reports all code that lies in files and in the vDSO: what runs when a process is taken over has callers there. Takes
 * process->lock. */
void tr_code_report_all(struct tr_thread *thread);

/* Bytes [pc, end) are about to be translated or were: with TR_CODE_PROTECTED and TR_CODE_CHANGING their pages are
 * dumped for the recorder if they changed since. */
void tr_code_note(struct tr_thread *thread, uint64_t pc, uint64_t end);

/* A fault at `address` that a write of the thread raised (error code bit 1). True: the page was protected by us, or another
 * one may have been given back while the fault was on its way; it is writable again, its fragments were invalidated
 * (tr_invalidate in fragment.h), the instruction is to be run again. `writer_pc` is the writing instruction (the
 * program's), or 0 when not known. Takes process->lock. */
bool tr_code_written(struct tr_thread *thread, uint64_t address, uint64_t writer_pc);

/* The write at `address` changed the fragment that it is part of: from now on each instruction that writes to memory ends its
 * superblock in that page, and what comes next is compared before it runs. Takes process->lock. */
void tr_code_writes_itself(struct tr_thread *thread, uint64_t address);

/* A fragment that is compared with the bytes [start, end) whenever it runs was seen to pass (hot_path.c). A page whose fragments pass
 * again and again is protected once more: a just-in-time compiler writes to a page until that is full, and runs its code for long. */
void tr_code_passed(struct tr_thread *thread, uint64_t start, uint64_t end);

/* Mappings in the range have gone or are about to, or others have taken their place: forgets what was known and
 * invalidates the fragments there. Returns whether there was code. */
bool tr_code_changed(struct tr_thread *thread, uint64_t start, uint64_t end);

/* Code of files may have been mapped in the range: puts breakpoints at its selected functions. */
void tr_code_break(struct tr_thread *thread, uint64_t start, uint64_t end);

/* Whether there may be a breakpoint at `address`; puts one there, for a while (tr_breakpoint_add). */
bool tr_code_is_breakable(uint64_t address);
void tr_code_break_at(uint64_t address);

/* A mapping was made in the range. */
void tr_code_mapped(struct tr_thread *thread, uint64_t start, uint64_t end);

/* The same of a writable one of shared memory, which may show what is code elsewhere. */
void tr_code_mapped_shared(struct tr_thread *thread, uint64_t start, uint64_t end, int32_t file,
                           uint64_t offset);

/* A mapping was moved to the range. */
void tr_code_moved(struct tr_thread *thread, uint64_t start, uint64_t end);

/* Whether the process has executed code of a file that descriptors may write to: one without a name (memfd_create), or mapped shared. Needs
 * no lock. */
bool tr_code_in_open_files(void);

/* From now on other processes may have memory of this one mapped: it forks, or was sent a descriptor. Shared code is compared with what was
 * translated each time it runs. Under process->lock. */
void tr_code_shared(struct tr_thread *thread);

/* The content of the file of this descriptor has changed: code that shows it is translated again; with `named` also where the file has a name and is
 * mapped privately. Takes process->lock. */
void tr_code_file_written(struct tr_thread *thread, int32_t file, bool named);

/* Something was mapped or unmapped at an unknown place: everything is looked up again. */
void tr_code_unknown(struct tr_thread *thread);

/* mprotect or pkey_mprotect (`number`), with what the program passes. Code that it makes writable is kept under its
 * translation, and write-protected, until it is written to. Returns what the program gets. */
int64_t tr_code_mprotect(struct tr_thread *thread, int64_t number, uint64_t start, uint64_t size,
                         uint64_t protection, uint64_t key);

/* The program installs a filter for its system calls: /proc is read for the last time. */
void tr_code_seal(struct tr_thread *thread);

/* The kernel could not write to a buffer of the program (EFAULT): gives back all write protection in the range, or
 * everywhere (start 0, end UINT64_MAX). True: something was protected, the call is to be made again. */
bool tr_code_unprotect(struct tr_thread *thread, uint64_t start, uint64_t end);

/* Changes whenever pages that were protected have become writable, by whatever cause: another thread may have given back
 * what a call met. */
uint64_t tr_code_times_given_back(void);

/* Before the first thread goes on natively for good: gives back all write protection, and protects nothing from now on; no breakpoints, either. Code that
 * `others` still translate is compared each time it runs. Under process->lock. */
void tr_code_let_go(struct tr_thread *thread, bool others);

#endif
