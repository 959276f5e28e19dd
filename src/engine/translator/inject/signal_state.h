/* What the kernel's signal frames look like on this machine: how large the extended state is that they save.
 *
 * The runtime learns that from a signal of its own in programs that it starts with. In a process that is taken over,
 * the return from it would make an interrupted system call fail (its restart block is forgotten), so the recorder learns
 * it from a signal to itself.
 */
#ifndef MAGIC_TRACE_ENGINE_TRANSLATOR_SIGNAL_STATE_H
#define MAGIC_TRACE_ENGINE_TRANSLATOR_SIGNAL_STATE_H

#include <stdint.h>

/* struct _fpx_sw_bytes of asm/sigcontext.h, and the PKRU register that handlers begin with. In the calling thread; SIGURG's
 * disposition is as before afterwards. */
void signal_state_learn(uint8_t extended_state[48], uint32_t *protection_keys);

#endif
