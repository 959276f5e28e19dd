/* When threads were not on a processor, in DIR/translator/switches: for whoever finishes the recording of a magic-trace
 * that was killed, since the kernel's records are gone with it.
 *
 * A ring of the newest periods of all threads. Written with pwrite(2), so that a full disk ends it and nothing else. Used by off_cpu.c
 * alone.
 */
#ifndef MAGIC_TRACE_ENGINE_TRANSLATOR_OFF_CPU_FILE_H
#define MAGIC_TRACE_ENGINE_TRANSLATOR_OFF_CPU_FILE_H

#include "base/array.h"
#include "engine/packets/off_cpu_log.h"

#include <stdbool.h>
#include <stdint.h>

enum { OFF_CPU_FILE_MOST = 1 << 18 }; /* periods */

struct off_cpu_file {
    int descriptor; /* -1: it could not be made or written */
    uint64_t count; /* periods that were added, of which the last OFF_CPU_FILE_MOST are there */
};

/* `folder`: DIR/translator. */
struct off_cpu_file off_cpu_file_create(const char *folder);
void off_cpu_file_close(struct off_cpu_file *file);

void off_cpu_file_add(struct off_cpu_file *file, const struct off_cpu_period *period);
/* What was added before can be read from now on, also after the death of this process. */
void off_cpu_file_publish(const struct off_cpu_file *file);

/* Appends to `periods` (of struct off_cpu_period) what was published, in the order in which it was added. *lost: how many came
 * before. False: there is no such file, or it is damaged. */
bool off_cpu_file_read(const char *folder, struct array *periods, uint64_t *lost);

#endif
