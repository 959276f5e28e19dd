#include "index/build/value_recorder.h"

#include "base/memory.h"
#include "index/file/index_format.h"

#include <stdlib.h>
#include <string.h>

void value_recorder_init(struct value_recorder *recorder, struct string_pool *strings,
                         const char *beside)
{
    *recorder = (struct value_recorder){
        .strings = strings,
        .beside = beside,
        .calls = spill_of(sizeof(struct valued_record), beside),
        .values = spill_of(sizeof(struct value_record), beside),
        .texts = spill_of(sizeof(char), beside),
    };
}

void value_recorder_free(struct value_recorder *recorder)
{
    spill_free(&recorder->calls);
    spill_free(&recorder->values);
    spill_free(&recorder->texts);
}

static uint64_t add_text(struct value_recorder *recorder, const char *text)
{
    uint64_t place = recorder->texts.count;
    do
        *(char *)spill_add(&recorder->texts) = *text;
    while (*text++);
    return place;
}

static void add_value(struct value_recorder *recorder, const struct named_value *value)
{
    struct value_record record = {
        .number = value->kind == NAMED_TEXT ? 0 : value->unsigned_number,
        .call = recorder->calls.count,
        .text = add_text(recorder, value->text),
        .string = value->string ? add_text(recorder, value->string) : INDEX_NO_TEXT,
        .name = string_pool_add_name(recorder->strings, value->name),
        .kind = value->kind,
    };
    *(struct value_record *)spill_add(&recorder->values) = record;
}

void value_recorder_add(struct value_recorder *recorder, uint32_t track, uint64_t number,
                        const struct index_span *span, const struct named_values *values)
{
    if (values->count == 0)
        return;
    const struct valued_record record = {
        .start = span->start,
        .end = span->end,
        .number = number,
        .first_value = recorder->values.count,
        .track = track,
        .depth = span->depth,
        .function = span->function,
        .value_count = (uint32_t)values->count & INT32_MAX,
        .has_result = values->has_result,
    };
    for (size_t i = 0; i < values->count; i++)
        add_value(recorder, &values->values[i]);
    *(struct valued_record *)spill_add(&recorder->calls) = record;
}

/* ---- the end ---- */

static const struct valued_record *call_at(const struct spill *calls, size_t index)
{
    return spill_at(calls, index);
}

/* Calls of one track stay in the order of their ends. Values refer to their call's new place. */
static void sort_calls(struct value_recorder *recorder, size_t tracks, struct spill *sorted)
{
    const struct spill *calls = &recorder->calls;
    uint64_t *next = memory_allocate_zeroed((tracks + 1) * sizeof *next);
    for (size_t i = 0; i < calls->count; i++) {
        next[call_at(calls, i)->track + 1]++;
        spill_add(sorted);
    }
    for (size_t i = 0; i < tracks; i++)
        next[i + 1] += next[i];
    for (size_t i = 0; i < calls->count && sorted->failed.code == ERROR_NONE; i++) {
        const struct valued_record *call = call_at(calls, i);
        uint64_t place = next[call->track]++;
        *(struct valued_record *)spill_at(sorted, place) = *call;
        for (uint32_t v = 0; v < call->value_count; v++)
            ((struct value_record *)spill_at(&recorder->values, call->first_value + v))->call =
                place;
    }
    free(next);
}

static const struct error *failure_of(const struct value_recorder *recorder)
{
    const struct spill *all[] = {&recorder->calls, &recorder->values, &recorder->texts};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i]->failed.code != ERROR_NONE)
            return &all[i]->failed;
    return NULL;
}

bool value_recorder_finish(struct value_recorder *recorder, size_t tracks, struct error *error)
{
    if (!failure_of(recorder)) {
        struct spill sorted = spill_of(sizeof(struct valued_record), recorder->beside);
        sort_calls(recorder, tracks, &sorted);
        spill_free(&recorder->calls);
        recorder->calls = sorted;
    }
    const struct error *failure = failure_of(recorder);
    if (failure)
        *error = *failure;
    return !failure;
}
