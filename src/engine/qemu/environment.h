/* Reverses the environment for qemu.
 *
 * qemu-user hands its own environment to the program in reverse order (each variable is put at the
 * head of a list: envlist_setenv() in util/envlist.c of qemu). Programs that print or search it
 * would show a difference, so it is passed to qemu reversed. Used by the recorder and, for execve,
 * by the plugin: allocates nothing.
 */
#ifndef MAGIC_TRACE_ENGINE_QEMU_ENVIRONMENT_H
#define MAGIC_TRACE_ENGINE_QEMU_ENVIRONMENT_H

#include <stddef.h>

/* Reverses `count` pointers in place. */
void environment_reverse(char **environment, size_t count);

#endif
