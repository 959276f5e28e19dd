/* Hits of the trigger: where they happen, whether they count, and their effects.
 *
 * plugin.c asks for the places in every block that is translated, and reports every hit, at the
 * time of the thread's newest packet. The state that processes share (the hit before, the count) is
 * in struct qemu_control. No function here waits.
 */
#ifndef MAGIC_TRACE_RUNTIME_QEMU_PLUGIN_TRIGGER_H
#define MAGIC_TRACE_RUNTIME_QEMU_PLUGIN_TRIGGER_H

#include "runtime/qemu_plugin/sideband.h"

#include <stdbool.h>
#include <stdint.h>

/* Whether the file at `path`, whose inode is `inode`, has places of the trigger. */
bool trigger_concerns_file(const struct qemu_trigger *trigger, const char *path, uint64_t inode);

/* The first place in such a file at or after `file_offset` and before `end`; UINT64_MAX: none. */
uint64_t trigger_next_place(const struct qemu_trigger *trigger, uint64_t inode,
                            uint64_t file_offset, uint64_t end);

/* What the registers held at a hit. */
struct trigger_arguments {
    bool known;
    uint64_t first, second; /* RDI, RSI */
};

/* The effect of a hit. */
enum trigger_verdict {
    TRIGGER_GOES_ON,
    TRIGGER_STOPS, /* this thread's recording ends here, and all others' at once */
};

/* `subject` hit the trigger at `ip`, at subject->time. A hit that counts is logged. */
enum trigger_verdict trigger_hit(struct sideband *log, const struct sideband_subject *subject,
                                 uint64_t ip, const struct trigger_arguments *arguments);

/* It is `now` for some thread: freezes the recording if the few microseconds that follow a snapshot
 * are over. */
void trigger_tick(struct qemu_control *control, uint64_t now);

#endif
