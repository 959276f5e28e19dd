/* What the modules for system calls and code call, in a test's own process: an arena, a thread, a clock that counts, the
 * memory and locks of a usual program, and faults of fault_safe.S that make its functions return false. */
#ifndef MAGIC_TRACE_TESTS_ARENA_STAND_IN_H
#define MAGIC_TRACE_TESTS_ARENA_STAND_IN_H

#include "engine/packets/sideband_layout.h"
#include "runtime/translator/thread.h"

enum {
    STAND_IN_LOG_OFFSET = TR_IMAGE_OFFSET,
    STAND_IN_LOG_SIZE = 256 << 10,
    STAND_IN_DUMP_OFFSET = 3 << 20,
    STAND_IN_DUMP_SIZE = 1 << 20,
    STAND_IN_ARENA_SIZE = 4 << 20,
    STAND_IN_INVALIDATIONS = 256,
};

/* A new arena, with nothing in it, and a thread of pid 1234, tid 1235, slot 7. At the beginning of a test: cmocka has
 * handlers of its own before. */
struct tr_thread *stand_in_begin(void);
/* The arena stays mapped: a runtime has one for its life. */
void stand_in_end(void);

/* Ranges that tr_invalidate was called with since stand_in_begin or stand_in_forget. */
bool stand_in_invalidated(uint64_t start, uint64_t end);
void stand_in_forget(void);

/* The last mapping record that covers `address`; NULL: there is none. */
const struct logged_mapping *stand_in_mapping(uint64_t address);
/* The bytes of a dump that a mapping names. */
const uint8_t *stand_in_dump(const struct logged_mapping *mapping);
unsigned stand_in_count(enum logged_kind kind);

#endif
