/* The writer's table of strings: from a text to its number in the trace.
 *
 * The trace has 32767 numbers. When they are used up, the least recently used one gets a new text:
 * a string record takes effect from its place in the file on, so what was written before keeps its
 * meaning. The texts that every record may need (names of arguments) have numbers of their own that
 * are never recycled.
 *
 * Texts are not copied: they must live as long as the table.
 */
#ifndef MAGIC_TRACE_OUTPUT_FXT_FXT_STRINGS_H
#define MAGIC_TRACE_OUTPUT_FXT_FXT_STRINGS_H

#include "output/block_writer.h"
#include "output/fxt/slot_recycler.h"

#include <stddef.h>
#include <stdint.h>

/* Numbers of the permanent texts. */
enum fxt_permanent_string {
    FXT_STRING_ADDRESS = 1,
    FXT_STRING_SYMBOL,
    FXT_STRING_FILE,
    FXT_STRING_LINE,
    FXT_STRING_START_INFERRED,
    FXT_STRING_END_INFERRED,
    FXT_STRING_ACROSS_GAP,
    FXT_STRING_TRUE,
    FXT_STRING_END,
    FXT_STRING_TAIL_CALL,
    FXT_STRING_UNWOUND,
    FXT_STRING_GAP,
    FXT_STRING_END_OF_TRACE,
    FXT_STRING_EXEC,
    FXT_STRING_FILTER,
    FXT_STRING_SWITCH,
    FXT_STRING_STACK,
    FXT_STRING_TIMESTAMP,
    FXT_STRING_PID,
    FXT_STRING_TID,
    FXT_STRING_IP,
    FXT_STRING_PASSED,
    FXT_STRING_ARGUMENT,
    FXT_STRING_PROCESS,
    FXT_STRING_SPECIAL,
    FXT_STRING_LIBRARY,
    FXT_STRING_KERNEL,
    FXT_STRING_INLINED,
    FXT_STRING_PERMANENT_END,
};

struct fxt_strings {
    struct block_writer *output;
    struct slot_recycler recycler;
    struct fxt_string_slot *slots;   /* by recycler slot; owned */
    struct fxt_string_slot *by_text; /* hash table over the slots in use */
    uint32_t *generations;           /* by recycler slot: how often it was given a text; owned */
};

/* The number a text had when it was last asked for; all zero at first. One per text that is used
 * often. */
struct fxt_cached_string {
    uint32_t generation;
    uint16_t slot;
};

/* Writes the permanent texts. The output must outlive the table. */
void fxt_strings_init(struct fxt_strings *strings, struct block_writer *output);
void fxt_strings_free(struct fxt_strings *strings);

/* fxt_strings_reference for a text whose cached reference is out of date. */
uint32_t fxt_strings_look_up(struct fxt_strings *strings, struct fxt_cached_string *cached,
                             const char *text);

/* The reference of `text`, which is first written to the trace if necessary. It holds until 4000
 * other texts were requested. The same cache must always be used with the same text. */
static inline uint32_t fxt_strings_reference(struct fxt_strings *strings,
                                             struct fxt_cached_string *cached, const char *text)
{
    if (cached->generation == 0 || strings->generations[cached->slot] != cached->generation)
        return fxt_strings_look_up(strings, cached, text);
    slot_recycler_touch(&strings->recycler, cached->slot);
    return cached->slot + (uint32_t)FXT_STRING_PERMANENT_END - 1;
}

/* True as long as all references that were ever given hold. */
static inline bool fxt_strings_all_hold(const struct fxt_strings *strings)
{
    return !slot_recycler_keeps_order(&strings->recycler);
}

/* For a text that is used once in a while. */
static inline uint32_t fxt_strings_reference_once(struct fxt_strings *strings, const char *text)
{
    struct fxt_cached_string cached = {0};
    return fxt_strings_look_up(strings, &cached, text);
}

#endif
