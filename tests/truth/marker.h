/* truth_marker(): a place at which the true stack is known from an unwinder.
 *
 * A program includes this and calls truth_marker wherever its stack is to be judged. With the environment variable
 * TRUTH_MARKERS the program appends the callers of each call to the file of that name, as _Unwind_Backtrace finds them: a
 * line per call, innermost caller first, each "FILE+OFFSET" (in the object's file, hexadecimal) of the return address
 * less one. Without it, as in recordings, truth_marker does nothing: so recordings are not full of unwinding.
 *
 * One thread. tests/truth/markers runs such programs twice and compares (marker_judge.c).
 */
#ifndef MAGIC_TRACE_TESTS_MARKER_H
#define MAGIC_TRACE_TESTS_MARKER_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <unwind.h>

struct truth_caller {
    uintptr_t address, offset;
    char file[1024];
};

static void truth_name_object(struct truth_caller *caller, const char *name)
{
    ssize_t size = name[0] ? -1 : readlink("/proc/self/exe", caller->file, sizeof caller->file - 1);
    if (size > 0)
        caller->file[size] = 0;
    else
        snprintf(caller->file, sizeof caller->file, "%s", name);
}

static int truth_find_object(struct dl_phdr_info *object, size_t size, void *found)
{
    struct truth_caller *caller = (struct truth_caller *)found;
    (void)size;
    for (unsigned i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &object->dlpi_phdr[i];
        uintptr_t start = object->dlpi_addr + header->p_vaddr;
        if (header->p_type != PT_LOAD || caller->address < start ||
            caller->address >= start + header->p_memsz)
            continue;
        caller->offset = caller->address - start + header->p_offset;
        truth_name_object(caller, object->dlpi_name);
        return 1;
    }
    return 0;
}

static _Unwind_Reason_Code truth_put_caller(struct _Unwind_Context *context, void *file)
{
    int before = 0;
    struct truth_caller caller = {_Unwind_GetIPInfo(context, &before), 0, "?"};
    if (caller.address == 0)
        return _URC_END_OF_STACK;
    caller.address -= !before;
    dl_iterate_phdr(truth_find_object, &caller);
    fprintf((FILE *)file, "%s+%lx ", caller.file, (unsigned long)caller.offset);
    return _URC_NO_REASON;
}

__attribute__((noinline, unused)) static void truth_marker_here(void)
{
    static const char *path = "";
    if (path && path[0] == 0)
        path = getenv("TRUTH_MARKERS");
    if (path) {
        FILE *file = fopen(path, "a");
        if (!file)
            abort();
        _Unwind_Backtrace(truth_put_caller, file);
        fputc('\n', file);
        fclose(file);
    }
    __asm__ volatile("" ::: "memory");
}

/* The call is no tail call: the function that makes it is on the stack. */
__attribute__((always_inline, unused)) static inline void truth_marker(void)
{
    truth_marker_here();
    __asm__ volatile("");
}

#endif
