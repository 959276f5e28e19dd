/* Finds when a thread ended that could not record its end itself: it was killed, or the recording
 * ended before.
 *
 * Called by collect for every ring. A thread that ends normally writes its own EXIT record. The
 * others get one here, so that their last wait lasts in the trace until their end:
 *   - killed with its process, and wait4 reported that to the process's traced parent: then
 *   - ended because another thread of its process executed another program: then
 *   - else, when the recording was frozen: at Ctrl-C, at the trigger, or when the recorder saw the
 *     program end (supervise.c, by pidfd). A thread whose earlier death was not seen counts as alive
 *     until then.
 * With the instruction clock, where no time passes while a thread waits, that is its last packet.
 */
#ifndef MAGIC_TRACE_ENGINE_PACKETS_THREAD_END_H
#define MAGIC_TRACE_ENGINE_PACKETS_THREAD_END_H

#include "engine/packets/recorded.h"
#include "engine/packets/ring.h"
#include "engine/packets/sideband_log.h"

/* Adds the EXIT record of the ring's thread to `log`, which already contains all records of the
 * traced processes. None when its end is unknown: the thread's recording ran out of space, or no
 * recorder was watching when it died (not `recorded->watched`, and the thread is gone). */
void thread_end_add(struct sideband_log *log, const struct ring *ring,
                    const struct recorded *recorded);

#endif
