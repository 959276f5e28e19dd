/* Handing out the arena's slots and fragment tables, and taking those back that nobody needs any more.
 *
 * Called by the runtime when a thread or process begins, and by the recorder, which has read what was in them. Any
 * process, at any time, without a lock.
 */
#ifndef MAGIC_TRACE_RUNTIME_TRANSLATOR_RESERVATION_H
#define MAGIC_TRACE_RUNTIME_TRANSLATOR_RESERVATION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Of one kind of place: `count` of them, of which those from `*next` on were never handed out, and those whose bit is
 * set in `given_back` can be used again. */
struct tr_places {
    _Atomic uint32_t *next;
    _Atomic uint64_t *given_back;
    uint32_t count;
};

/* One that was given back comes first: its disk space is there. False: all are in use. */
static inline bool tr_reserve(const struct tr_places *places, uint32_t *index)
{
    for (uint32_t word = 0; word < (places->count + 63) / 64; word++) {
        uint64_t set = atomic_load_explicit(&places->given_back[word], memory_order_relaxed);
        while (set) {
            *index = 64 * word + (uint32_t)__builtin_ctzll(set);
            if (*index < places->count &&
                atomic_compare_exchange_weak(&places->given_back[word], &set, set & (set - 1)))
                return true;
            if (*index >= places->count)
                break;
        }
    }
    *index = atomic_load(places->next);
    do {
        if (*index >= places->count)
            return false;
    } while (!atomic_compare_exchange_weak(places->next, index, *index + 1));
    return true;
}

static inline void tr_give_back(const struct tr_places *places, uint32_t index)
{
    atomic_fetch_or(&places->given_back[index / 64], UINT64_C(1) << index % 64);
}

#endif
