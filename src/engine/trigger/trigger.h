/* The moment at which to take a snapshot: a place in the program's code, and conditions.
 *
 * trigger_find turns the argument of -trigger into places in files; the engines watch the places,
 * each in its own way, and check the conditions at every hit.
 *
 *     SYMBOL            a function: of the executable, else of one of its libraries; one that is
 *                       nowhere called, where it is inlined
 *     .                 magic_trace_stop_indicator (include/magic_trace.h)
 *     FILE:LINE[:COL]   the code that a source line was compiled to
 *     addr:0xADDRESS    an instruction, as the executable numbers it (objdump, nm)
 *
 * The prefixes `symbol:`, `inlined:`, `line:` and `addr:` select the kind; without them they are
 * tried in this order.
 */
#ifndef MAGIC_TRACE_ENGINE_TRIGGER_H
#define MAGIC_TRACE_ENGINE_TRIGGER_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The symbol that programs call to take a snapshot. Its two arguments are the time (TSC ticks) that
 * the program passes, and its argument, each x as 2x + 1: what OCaml integers look like. */
#define TRIGGER_STOP_INDICATOR "magic_trace_stop_indicator"

/* One instruction in a file. */
struct trigger_place {
    char *path;           /* of the object: process_file_real_path; owned */
    uint64_t address;     /* the object's own (p_vaddr based) */
    uint64_t file_offset; /* of the instruction's bytes */
};

struct trigger {
    char *name; /* for people: the readable function, or FILE:LINE; NULL: no trigger. Owned */
    /* Several when a line was compiled to several ranges of code (inlined, templates), or a function
     * was inlined several times. */
    struct trigger_place *places; /* owned */
    size_t place_count;           /* at least 1 when there is a trigger */
    bool passes_time;             /* it is the stop indicator: see TRIGGER_STOP_INDICATOR */
    bool is_function;             /* each place is a function's first instruction */

    uint64_t duration_threshold_ns; /* -duration-thresh: only hits that come later than this after
                                       the time passed; 0: all */
    uint64_t delay_threshold_ns;    /* -delay-thresh: only hits that come later than this after the
                                       hit before, of any thread; never the first. 0: all */
    uint64_t
        longer_than_ns; /* -longer-than: only calls that last longer than this, when they end; 0: when they
                                begin */
    bool on_cpu;        /* -on-cpu: of these two what the thread spends on a processor */
    bool multi_snapshot; /* go on after the first */
    bool immediate_stop; /* nothing after the hit is kept */
};

/* At most this many places, in the order of their addresses. */
enum { TRIGGER_PLACES = 64 };

/* Fills name, places, passes_time and is_function from `text`; the rest stays. `objects`: paths of the
 * executable, then of its libraries. On an error (unknown, ambiguous, no symbols, no line tables)
 * the message suggests what was probably meant. */
bool trigger_find(struct trigger *trigger, const char *text, const char *const *objects,
                  size_t object_count, struct error *error);
void trigger_free(struct trigger *trigger);

#endif
