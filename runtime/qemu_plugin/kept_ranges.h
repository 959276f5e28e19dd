/* Which parts of a ring the snapshots want, when there can be several.
 *
 * A snapshot must not stall the program, not even to copy a ring. So the ring's file is written
 * from beginning to end, as in full execution, and whenever a step of it is full its thread
 * decides: if a snapshot was taken meanwhile, by whichever thread of whichever process, all that is
 * not decided yet is kept (a log record tells); if not, what lies further back than a snapshot
 * reaches goes back to the file system. What follows a snapshot's step is kept for one step more.
 * What the last step leaves undecided the recorder decides by the same rule (engine/packets/kept_parts.h).
 */
#ifndef MAGIC_TRACE_RUNTIME_QEMU_PLUGIN_KEPT_RANGES_H
#define MAGIC_TRACE_RUNTIME_QEMU_PLUGIN_KEPT_RANGES_H

#include "runtime/qemu_plugin/ring.h"
#include "runtime/qemu_plugin/sideband.h"

/* A step of the ring is full; `subject` is its thread. */
void kept_ranges_settle(struct ring *ring, struct sideband *log,
                        const struct sideband_subject *subject);

#endif
