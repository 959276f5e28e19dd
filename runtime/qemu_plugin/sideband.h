/* The writer's side of the sideband log: everything that is not packets (mappings, names,
 * beginnings and ends of threads).
 *
 * Lock-free, any thread at any time: space is handed out by an atomic add, the record is filled in,
 * `ready` is set last. A record that finds no space is counted in lost_records; one that comes
 * after the recording's end is dropped. Layout: shared.h. Times are ticks of the recording's clock.
 */
#ifndef MAGIC_TRACE_RUNTIME_QEMU_PLUGIN_SIDEBAND_H
#define MAGIC_TRACE_RUNTIME_QEMU_PLUGIN_SIDEBAND_H

#include "engine/qemu/shared.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct sideband {
    struct qemu_control *control; /* mapped with room for the whole log */
    const char *control_path;
};

/* The recording has ended: its folder may be read or removed, so nothing more is written into it.
 */
static inline bool sideband_frozen(const struct sideband *log)
{
    return atomic_load(&log->control->frozen) != 0;
}

/* Maps DIR/soft/control; `control_path` must live as long. False when it is not a control file of
 * our version. */
bool sideband_open(struct sideband *log, const char *control_path);

/* Who a record is about. */
struct sideband_subject {
    pid_t pid, tid;
    uint32_t serial; /* of the ring, or UINT32_MAX */
    uint64_t time;
};

/* Appends mapping->record and what follows it, with `path`; mapping->record is filled in from
 * `subject`. */
void sideband_mapping(struct sideband *log, const struct sideband_subject *subject,
                      const struct logged_mapping *mapping, const char *path);
void sideband_name(struct sideband *log, const struct sideband_subject *subject, bool exec,
                   const char *name);
void sideband_fork(struct sideband *log, const struct sideband_subject *subject, pid_t parent_pid,
                   pid_t parent_tid);
void sideband_exit(struct sideband *log, const struct sideband_subject *subject);
/* `subject` is the child that is gone, at the time of the parent. */
void sideband_reaped(struct sideband *log, const struct sideband_subject *subject);
/* Appends what follows death->record, which is filled in from `subject`. */
void sideband_death(struct sideband *log, const struct sideband_subject *subject,
                    const struct logged_death *death);
/* Append what follows the record in it, which is filled in from `subject`. */
void sideband_hit(struct sideband *log, const struct sideband_subject *subject,
                  const struct logged_hit *hit);
void sideband_kept(struct sideband *log, const struct sideband_subject *subject,
                   const struct logged_kept *kept);
void sideband_untraced(struct sideband *log, const struct sideband_subject *subject,
                       enum untraced_reason reason, const char *name);

#endif
