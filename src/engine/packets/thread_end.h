/* When did a thread end that could not say so itself: killed, or cut off by the end of the
 * recording?
 *
 * Called by collect for every ring. A thread that ends in order writes its own EXIT record. The
 * others get one here, so that what they were waiting in lasts in the trace until their end:
 *   - killed with its process, and the process's traced parent knew by wait4: then
 *   - cut off by another thread of its process that executed another program: then
 *   - else, when the recording was frozen: that is the moment of Ctrl-C or of the trigger, or when
 *     the recorder saw the program end (supervise.c, by pidfd). Whoever was killed earlier, without
 *     anybody noticing, is alive until then.
 * With the instruction clock, where nothing passes while a thread waits, that is its last packet.
 */
#ifndef MAGIC_TRACE_ENGINE_PACKETS_THREAD_END_H
#define MAGIC_TRACE_ENGINE_PACKETS_THREAD_END_H

#include "engine/packets/recorded.h"
#include "engine/packets/ring.h"
#include "engine/packets/sideband_log.h"

/* Adds the EXIT record of the ring's thread to `log`, in which all records of the traced processes
 * already are. None when nothing is known of its end: the thread's recording ran out of space, or
 * nobody was watching when it died (not `recorded->watched`, and the thread is gone). */
void thread_end_add(struct sideband_log *log, const struct ring *ring,
                    const struct recorded *recorded);

#endif
