/* Arguments of qemu that both sides must write alike: the recorder for the first program
 * (emulator.c), the plugin for execve (runtime/qemu_plugin/program_exec.c).
 *
 * Allocates nothing, since the plugin must not use up the program's memory. The meaning of the
 * arguments: shared.h.
 */
#ifndef MAGIC_TRACE_ENGINE_QEMU_QEMU_ARGUMENTS_H
#define MAGIC_TRACE_ENGINE_QEMU_QEMU_ARGUMENTS_H

#include <stddef.h>

/* Bytes, with the final NUL, of `text` with each comma doubled: qemu's option parser takes a comma
 * for the end of a value, and two for one. */
size_t qemu_arguments_quoted_size(const char *text);

/* Writes that to `out`; returns where its NUL is. */
char *qemu_words_put_quoted(char *out, const char *text);

/* What is given to -s, in bytes. */
unsigned long long qemu_words_stack_size(void);

#endif
