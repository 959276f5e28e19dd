/* Arguments and results of calls, while the index of their trace is built.
 *
 * Called by index_builder.c when a call with values ends. All lies in files (spill.h) but the names of
 * parameters.
 */
#ifndef MAGIC_TRACE_INDEX_BUILD_VALUE_RECORDER_H
#define MAGIC_TRACE_INDEX_BUILD_VALUE_RECORDER_H

#include "base/named_values.h"
#include "index/build/spill.h"
#include "index/build/string_pool.h"
#include "index/file/index_items.h"

struct value_recorder {
    struct string_pool *strings; /* not owned */
    const char *beside;          /* the index; not owned */
    struct spill calls;          /* of struct valued_record */
    struct spill values;         /* of struct value_record */
    struct spill texts;          /* of char */
};

void value_recorder_init(struct value_recorder *recorder, struct string_pool *strings,
                         const char *beside);
void value_recorder_free(struct value_recorder *recorder);

/* `number`: how many spans of the track ended before. */
void value_recorder_add(struct value_recorder *recorder, uint32_t track, uint64_t number,
                        const struct index_span *span, const struct named_values *values);

/* Groups the calls by track. False when some were lost for lack of space. */
bool value_recorder_finish(struct value_recorder *recorder, size_t tracks, struct error *error);

#endif
