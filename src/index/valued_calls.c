#include "index/valued_calls.h"

#include "index/file/index_reader.h"

#include <string.h>

/* Only what is read is checked: there may be millions. */
bool index_valued_call(const struct trace_index *index, uint64_t number, struct valued_call *call,
                       struct error *error)
{
    const struct valued_record *record = &index->valued[number];
    if (number >= index->facts.valued_calls || record->track >= index->facts.tracks ||
        record->function >= index->facts.functions || record->start > record->end ||
        record->end > index->header->duration ||
        record->depth >= index->tracks[record->track].depth ||
        record->number >= index->tracks[record->track].spans ||
        record->first_value > index->facts.values || record->value_count == 0 ||
        record->value_count > index->facts.values - record->first_value)
        return index_damaged(index, error);
    *call = (struct valued_call){
        .place = {.track = record->track,
                  .span = {.start = record->start,
                           .end = record->end,
                           .depth = record->depth,
                           .function = record->function}},
        .number = record->number,
        .first_value = record->first_value,
        .value_count = record->value_count,
        .has_result = record->has_result,
    };
    return true;
}

bool index_value(const struct trace_index *index, uint64_t number, struct named_value *value,
                 uint64_t *call, struct error *error)
{
    const struct value_record *record = &index->values[number];
    uint64_t texts = index->header->sections[SECTION_VALUE_TEXTS].count;
    if (number >= index->facts.values || record->call >= index->facts.valued_calls ||
        record->text >= texts || (record->string != INDEX_NO_TEXT && record->string >= texts) ||
        record->name >= index->header->sections[SECTION_STRINGS].count || record->kind > NAMED_TEXT)
        return index_damaged(index, error);
    *value = (struct named_value){
        .name = index->strings + record->name,
        .text = index->value_texts + record->text,
        .kind = (enum named_value_kind)record->kind,
        .string = record->string == INDEX_NO_TEXT ? NULL : index->value_texts + record->string,
        .unsigned_number = record->number,
    };
    *call = record->call;
    return true;
}

/* ---- those of one call ---- */

bool index_values_of(const struct trace_index *index, const struct valued_call *call,
                     struct arena *arena, struct named_values *values, struct error *error)
{
    struct named_value *list = arena_allocate(arena, call->value_count * sizeof *list);
    uint64_t owner;
    for (uint32_t i = 0; i < call->value_count; i++)
        if (!index_value(index, call->first_value + i, &list[i], &owner, error))
            return false;
    *values = (struct named_values){
        .count = call->value_count, .values = list, .has_result = call->has_result};
    values->text = named_values_join(arena, values);
    return true;
}

/* The first call of the track for which `is_before` is false; the first of a later track. */
static uint64_t find(const struct trace_index *index, uint32_t track,
                     bool (*is_before)(const struct valued_record *record, uint64_t key),
                     uint64_t key)
{
    uint64_t low = 0, high = index->facts.valued_calls;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        const struct valued_record *record = &index->valued[middle];
        if (record->track < track || (record->track == track && is_before(record, key)))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool has_smaller_number(const struct valued_record *record, uint64_t number)
{
    return record->number < number;
}

static bool ends_before(const struct valued_record *record, uint64_t time)
{
    return record->end < time;
}

static bool give(const struct trace_index *index, uint64_t number, bool found,
                 struct valued_call *call, struct error *error)
{
    return !found || index_valued_call(index, number, call, error);
}

bool index_values_of_call(const struct trace_index *index, uint32_t track, uint64_t number,
                          struct valued_call *call, bool *found, struct error *error)
{
    uint64_t at = find(index, track, has_smaller_number, number);
    *found = at < index->facts.valued_calls && index->valued[at].track == track &&
             index->valued[at].number == number;
    return give(index, at, *found, call, error);
}

static bool is_at(const struct valued_record *record, const struct call_place *place)
{
    return record->start == place->span.start && record->depth == place->span.depth &&
           record->function == place->span.function;
}

/* Of the spans that began before a call, all but its callers have ended when it begins: so of several calls
 * at one place, which end in the order in which they begin, it is the first before which so many ended. */
bool index_values_at(const struct trace_index *index, const struct call_place *place,
                     uint64_t begun, struct valued_call *call, bool *found, struct error *error)
{
    uint64_t last = 0;
    *found = false;
    for (uint64_t at = find(index, place->track, ends_before, place->span.end);
         at < index->facts.valued_calls; at++) {
        const struct valued_record *record = &index->valued[at];
        if (record->track != place->track || record->end != place->span.end)
            break;
        if (!is_at(record, place))
            continue;
        *found = true;
        last = at;
        if (begun != VALUES_OF_LAST && record->number + place->span.depth >= begun)
            break;
    }
    return give(index, last, *found, call, error);
}
