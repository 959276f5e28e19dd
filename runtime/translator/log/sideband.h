/* The sideband log from the writer's side: what is not in the path logs (mappings, names, forks and exits).
 *
 * Lock-free, any thread at any time: space is handed out by an atomic add, the record is filled in, `ready` is set
 * last. A record that finds no space is counted, one that comes after the recording's end is dropped. Layouts:
 * engine/packets/sideband_layout.h.
 */
#ifndef MAGIC_TRACE_RUNTIME_TRANSLATOR_SIDEBAND_H
#define MAGIC_TRACE_RUNTIME_TRANSLATOR_SIDEBAND_H

#include "runtime/translator/thread.h"

struct tr_mapping {
    uint64_t start, length, file_offset, inode;
    uint32_t device_major, device_minor, protection;
    uint64_t version; /* of the file, where it was copied (file_dump.h); or 0 */
    bool dumped;      /* `path` names a dump: "images/dump.NUMBER" (layout.h) */
};

/* `time` and `since`, from when on the mapping holds (0: now), in ticks; path and name end with NUL. */
void tr_sideband_mapping(struct tr_thread *thread, uint64_t since, const struct tr_mapping *mapping,
                         const char *path);
void tr_sideband_name(struct tr_thread *thread, uint64_t time, bool exec, const char *name);
void tr_sideband_fork(struct tr_thread *thread, uint64_t time, int32_t parent_pid,
                      int32_t parent_tid);
void tr_sideband_exit(struct tr_thread *thread, uint64_t time);
void tr_sideband_reaped(struct tr_thread *thread, uint64_t time, int32_t child);
void tr_sideband_death(struct tr_thread *thread, uint64_t time, int signal, uint64_t pc);
void tr_sideband_hit(struct tr_thread *thread, uint64_t time, uint64_t pc, uint64_t passed,
                     int64_t argument, bool has_argument);
/* `reason` is enum untraced_reason. */
void tr_sideband_untraced(struct tr_thread *thread, uint64_t time, int32_t pid, uint32_t reason,
                          const char *name, const char *why);

#endif
