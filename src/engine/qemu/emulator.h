/* The emulator and our plugin for it: where they are, whether they will do, and how a program is
 * started.
 */
#ifndef MAGIC_TRACE_ENGINE_QEMU_EMULATOR_H
#define MAGIC_TRACE_ENGINE_QEMU_EMULATOR_H

#include "base/error.h"
#include "engine/qemu/shared.h"
#include "process/program.h"

#include <stdbool.h>
#include <stddef.h>

struct qemu {
    char path[sizeof((struct qemu_options *)0)->qemu];     /* absolute, of qemu-x86_64 */
    char plugin[sizeof((struct qemu_options *)0)->plugin]; /* absolute, of magic-trace-qemu.so */
};

/* Finds qemu and the plugin. Cheap: starts no process. The error says what to install. The
 * environment variable MAGIC_TRACE_QEMU_PLUGIN, if set, names the plugin (tests set it). */
bool qemu_find(struct qemu *qemu, struct error *error);

/* Runs qemu to learn its version ("7.2.22") and whether it was built with plugins. */
bool qemu_check(const struct qemu *qemu, char *version, size_t version_size, struct error *error);

/* The argument of -plugin for a recording into `directory` (absolute); the caller frees it. */
char *qemu_plugin_argument(const struct qemu_options *options, const char *directory);

/* The argv that starts `program` recorded into `directory`, as shared.h describes it. The caller
 * frees it with qemu_free_arguments. */
char **qemu_arguments(const struct qemu_options *options, const char *directory,
                      const struct program *program);
void qemu_free_arguments(char **arguments);

/* The environment under which the program gets ours; the strings are borrowed, the caller frees the
 * array. */
char **qemu_environment(void);

#endif
