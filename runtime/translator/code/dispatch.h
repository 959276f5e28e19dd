/* The ways out of the code cache (enter.S) on their C side: dispatch.c. Each returns the cache address to go on at. */
#ifndef MAGIC_TRACE_RUNTIME_TRANSLATOR_DISPATCH_H
#define MAGIC_TRACE_RUNTIME_TRANSLATOR_DISPATCH_H

#include "runtime/translator/thread.h"

uint64_t tr_dispatch_direct(struct tr_thread *thread);
uint64_t tr_dispatch_indirect(struct tr_thread *thread);
uint64_t tr_dispatch_first(struct tr_thread *thread);
uint64_t tr_dispatch_syscall(struct tr_thread *thread);
uint64_t tr_dispatch_check(struct tr_thread *thread);
uint64_t tr_dispatch_run(struct tr_thread *thread);
uint64_t tr_dispatch_copied(struct tr_thread *thread);
uint64_t tr_dispatch_loaded(struct tr_thread *thread);
uint64_t tr_dispatch_changed(struct tr_thread *thread);
uint64_t tr_dispatch_trigger(struct tr_thread *thread);
uint64_t tr_dispatch_enter(struct tr_thread *thread);
uint64_t tr_dispatch_resume(struct tr_thread *thread);

#endif
