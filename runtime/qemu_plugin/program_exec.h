/* execve of a traced program: qemu must be started again for the new program, so that it is traced
 * too.
 *
 * qemu would pass the call to the kernel, which would run the new program natively, untraced. So
 * this file follows the kernel's rules itself (fs/exec.c, fs/binfmt_script.c, fs/binfmt_elf.c):
 * which file is executed, through which interpreters, and whether the call would succeed. Where
 * that is uncertain the call is left to the kernel, so that the program gets the error that it
 * would have got.
 */
#ifndef MAGIC_TRACE_RUNTIME_QEMU_PLUGIN_PROGRAM_EXEC_H
#define MAGIC_TRACE_RUNTIME_QEMU_PLUGIN_PROGRAM_EXEC_H

#include "engine/qemu/shared.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The system call, all pointers being guest addresses. */
struct exec_call {
    int directory; /* AT_FDCWD for execve */
    int flags;     /* of execveat */
    uint64_t path, arguments, environment;
    uint64_t guest_base;
};

enum exec_verdict {
    EXEC_TRACEABLE, /* an x86-64 program that may be run */
    EXEC_FOREIGN,   /* will run, but not under qemu-x86_64: 32 bits, setuid, capabilities, other
                       formats, a file without a name */
    EXEC_FAILING,   /* will fail, or cannot be judged */
};

/* What will run. */
struct exec_program {
    char path[PATH_MAX]; /* as the call names it; absolute when it names a descriptor */
    char file[PATH_MAX]; /* the ELF file: the last interpreter, or `path` */
    /* The strings between argv[0] and the arguments: file names and options of interpreters,
     * outermost first; each NUL-terminated, `inserted` of them. With none, argv[0] is kept. */
    char words[PATH_MAX + 5 * 256];
    size_t words_used;
    unsigned inserted;
};

enum exec_verdict exec_judge(const struct exec_call *call, struct exec_program *program);

/* Starts qemu for the program, as shared.h describes, with two more arguments for the plugin:
 * exec=TIME (hexadecimal, ticks: when the old program ended) and name=NAME. Returns only on
 * failure, with nothing changed. */
void exec_run(const struct exec_call *call, const struct exec_program *program,
              const struct qemu_options *options, const char *directory, uint64_t time);

#endif
