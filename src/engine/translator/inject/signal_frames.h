/* Where handlers of signals return to, of a stopped thread.
 *
 * A thread that its recorder has left goes on by itself through code of ours. A signal may come there when its mask is set: the
 * program's handler runs natively, and returns to that code, which has to stay until then. Called by release.h.
 */
#ifndef MAGIC_TRACE_ENGINE_TRANSLATOR_SIGNAL_FRAMES_H
#define MAGIC_TRACE_ENGINE_TRANSLATOR_SIGNAL_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

/* Whether a signal frame on the stack, within a megabyte of its pointer, returns to the `size` bytes at `start`. `memory`:
 * /proc/PID/mem, open for reading. A handler that has changed to another stack is not noticed. */
bool signal_frame_returns_to(int memory, uint64_t stack_pointer, uint64_t start, uint64_t size);

#endif
