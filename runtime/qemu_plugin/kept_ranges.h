/* Which parts of a ring belong to snapshots, when there can be several.
 *
 * A snapshot must not stall the program, not even to copy a ring. So the ring's file is written
 * from beginning to end, as in full execution, in steps. Whenever a step is full its thread
 * decides: if any thread of any process has taken a snapshot meanwhile, all undecided parts are
 * kept (and a log record says so); if not, the parts further back than a snapshot reaches are
 * returned to the file system. The step after a snapshot is kept too. For the last step the
 * recorder decides by the same rule (engine/packets/kept_parts.h).
 */
#ifndef MAGIC_TRACE_RUNTIME_QEMU_PLUGIN_KEPT_RANGES_H
#define MAGIC_TRACE_RUNTIME_QEMU_PLUGIN_KEPT_RANGES_H

#include "runtime/qemu_plugin/ring.h"
#include "runtime/qemu_plugin/sideband.h"

/* A step of the ring is full; `subject` is its thread. */
void kept_ranges_settle(struct ring *ring, struct sideband *log,
                        const struct sideband_subject *subject);

#endif
