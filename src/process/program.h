/* Finds the program of a command line, checks it, and resolves its scripts to an ELF file.
 *
 * qemu-user loads ELF files itself instead of asking the kernel, so what execve(2) would do first
 * is done here: the search along PATH as a shell does it, the chain of `#!` interpreters as the
 * kernel does it (fs/binfmt_script.c, fs/exec.c of Linux), and every check that would fail, each
 * with a message that says what to do instead. The qemu engine calls it before it starts a process,
 * the translator engine for its checks. Engines that trace whatever the kernel executes need only
 * program_find.
 */
#ifndef MAGIC_TRACE_PROCESS_PROGRAM_H
#define MAGIC_TRACE_PROCESS_PROGRAM_H

#include "base/error.h"

struct program {
    char *path;       /* owned; of the ELF file, as execve would get it: perhaps relative */
    char *real_path;  /* owned; the same, absolute and without symbolic links */
    char **arguments; /* owned, with its strings; NULL-terminated argv of the ELF file */
};

/* As a shell does: a name with a slash is a path, others are looked for in PATH. A file that may
 * not be executed does not end the search, but is reported if no other is found. The caller frees;
 * NULL if not found. */
char *program_find(const char *name, struct error *error);

/* What a shell exits with when it cannot run the program: 127 when it is not found, 126 when it may
 * not be executed. 0: it can be, as far as can be seen. */
int program_shell_status(const char *name);

/* `command` is a NULL-terminated argv with at least one word. */
bool program_resolve(struct program *program, char *const *command, struct error *error);
void program_free(struct program *program);

/* False when its file has a setuid or setgid bit or capabilities: under qemu, which is what the
 * kernel executes, it would run without the privileges that they give. `what`: its name for users. */
bool program_needs_no_privilege(const struct program *program, const char *what,
                                struct error *error);

#endif
