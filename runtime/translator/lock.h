/* The lock of what the threads of a process share in the runtime: held briefly, waited for by futex. The word is 0 while nobody has
 * it. The caller blocks signals where a handler could take it, too.
 */
#ifndef MAGIC_TRACE_RUNTIME_TRANSLATOR_LOCK_H
#define MAGIC_TRACE_RUNTIME_TRANSLATOR_LOCK_H

#include <stdint.h>

void tr_lock(uint32_t *lock);
void tr_unlock(uint32_t *lock);

#endif
